import { closeImap, imapError, openFolder, openImap } from "./imap.ts";
import { signedIn } from "./oauth.ts";
import type { SendDependencies } from "./send.ts";
import { createTransport, isLoginRefused, smtpError } from "./smtp.ts";
import type { MailboxDependencies } from "./mailbox.ts";

/** Signs in to both servers, and opens the folder. */
export async function checkMailbox(
  { config, credentials }: Pick<MailboxDependencies, "config" | "credentials">,
  sending: Pick<SendDependencies, "credentials">,
  signal: AbortSignal,
): Promise<string> {
  const client = await openImap(config, credentials, signal);
  const folder = config.folder ?? "INBOX";
  let mails: number;
  try {
    const box = await openFolder(client, folder, { setting: "folder", readOnly: true, host: config.imap_host });
    mails = box.exists;
    if (typeof config.sent_folder === "string") {
      const sent = { setting: "sent_folder", readOnly: true, host: config.imap_host };
      await openFolder(client, config.sent_folder, sent);
    }
  } catch (error) {
    throw client.usable ? error : imapError(error, config);
  } finally {
    await closeImap(client);
  }
  await signedIn(sending.credentials, isLoginRefused, async (given) => {
    const transport = createTransport(config, given);
    try {
      await transport.verify();
    } finally {
      transport.close();
    }
  }).catch((error: unknown) => {
    throw new Error(smtpError(error, config).message, { cause: error });
  });
  return `${config.address}, ${mails} e-mails in ${folder}, ${config.smtp_host} takes mails`;
}

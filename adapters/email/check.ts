import { closeImap, imapError, openImap } from "./imap.ts";
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
    const box = await client.mailboxOpen(folder, { readOnly: true });
    mails = box.exists;
  } catch (error) {
    if (!client.usable) throw imapError(error, config);
    throw new Error(`the IMAP server ${config.imap_host} has no folder ${folder}: check folder`, { cause: error });
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

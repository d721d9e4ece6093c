import { closeImap, imapError, openImap } from "./imap.ts";
import type { SendDependencies } from "./send.ts";
import { createTransport, smtpError } from "./smtp.ts";
import type { MailboxDependencies } from "./mailbox.ts";

/** Signs in to both servers, and opens the folder. */
export async function checkMailbox(
  { config, credentials }: Pick<MailboxDependencies, "config" | "credentials">,
  sending: Pick<SendDependencies, "credentials">,
  signal: AbortSignal,
): Promise<string> {
  const client = await openImap(config, await credentials(), signal);
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
  const transport = createTransport(config, await sending.credentials());
  try {
    await transport.verify();
  } catch (error) {
    throw new Error(smtpError(error, config).message, { cause: error });
  } finally {
    transport.close();
  }
  return `${config.address}, ${mails} e-mails in ${folder}, ${config.smtp_host} takes mails`;
}

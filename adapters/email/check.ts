import type { ImapDependencies } from "./imap.ts";
import { closeImap, imapError, openImap } from "./imap.ts";
import { signedIn } from "./oauth/tokens.ts";
import type { SendDependencies } from "./send.ts";
import { createTransport, isLoginRefused, smtpError } from "./smtp.ts";

/** The number of folders that an error lists. */
const foldersMax = 30;

/** Signs in to both servers and opens the folder. Throws an Error that names the fix. */
export async function checkMailbox(
  { host, config, credentials }: ImapDependencies,
  sending: Pick<SendDependencies, "credentials">,
  signal: AbortSignal,
): Promise<string> {
  const client = await openImap({ host, config, credentials }, signal);
  const folder = config.folder ?? "INBOX";
  let mails: number;
  const open = async (name: string, setting: string): Promise<number> => {
    try {
      return (await client.mailboxOpen(name, { readOnly: true })).exists;
    } catch (error) {
      if (!client.usable) throw imapError(error, config);
      const there = (await client.list()).slice(0, foldersMax).map(({ path }) => path);
      throw new Error(
        `the IMAP server ${config.imap_host} has no folder ${name}: set ${setting} to one of ${there.join(", ")}`,
        { cause: error },
      );
    }
  };
  try {
    if (typeof config.sent_folder === "string") await open(config.sent_folder, "sent_folder");
    mails = await open(folder, "folder");
  } finally {
    await closeImap(client);
  }
  await signedIn(sending.credentials, isLoginRefused, async (given) => {
    const transport = await createTransport(config, given, host.lookup);
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

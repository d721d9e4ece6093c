import type { ChannelHost } from "#channels/contract.ts";
import { automaticKind } from "../mime/automatic-mail.ts";
import type { Mail } from "../mime/mail.ts";
import type { MessageIds } from "../mime/message-ids.ts";
import type { MailRecord } from "./record.ts";
import { messageRefsOf } from "./record.ts";
import { baseSubject } from "./text.ts";

/**
 * The thread of the mail: by the address that it was sent to, else by the mails that it refers to, if its author is their
 * customer or an agent. Never by its subject.
 */
export async function threadOf(
  { host, names }: { readonly host: ChannelHost; readonly names: MessageIds },
  mail: Mail,
): Promise<string | undefined> {
  const addressed = names.threadFrom(mail);
  if (addressed !== undefined && (await host.threads.correspondence(addressed, 1)) !== null) return addressed;
  const referred = await host.threads.findByMessageRef(messageRefsOf(mail));
  if (referred === null || mail.from === null) return undefined;
  const customer = (await host.threads.correspondence(referred, 1))?.email?.toLowerCase();
  const from = mail.from.address.toLowerCase();
  if (customer === from || names.isOwnAddress(from) || (await host.people.agent(from)) !== null) return referred;
  // An automatic reply may come from another address.
  return automaticKind(mail) === undefined ? undefined : referred;
}

/** Whether the subject differs from that of each mail that the customer has written in this thread. */
export async function hasNewSubject(host: ChannelHost, mail: Mail, thread: string): Promise<boolean> {
  const messages = (await host.threads.correspondence(thread, 20))?.messages ?? [];
  const subjects = messages.flatMap(({ metadata }) => {
    const { mail: record } = metadata as { readonly mail?: Partial<MailRecord> };
    return record?.subject === undefined ? [] : [baseSubject(record.subject).toLowerCase()];
  });
  return subjects.length > 0 && !subjects.includes(baseSubject(mail.subject).toLowerCase());
}

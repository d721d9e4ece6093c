import type { ChannelHost, InboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { EmailConfig } from "../config.ts";
import { automaticKind } from "../mime/automatic-mail.ts";
import type { Mail } from "../mime/mail.ts";
import type { MessageIds } from "../mime/message-ids.ts";
import { markOf } from "../mime/message-ids.ts";
import type { MailLocation } from "./files.ts";
import { beyondText, filesOf } from "./files.ts";
import type { MailOutcome } from "./outcome.ts";
import { ignored, ignoredOwn } from "./outcome.ts";
import { messageRefsOf, recordOf } from "./record.ts";
import type { RelayedFiles } from "./relayed-files.ts";
import { baseSubject, messageText } from "./text.ts";

export interface MailDependencies {
  readonly host: ChannelHost;
  readonly config: EmailConfig;
  readonly names: MessageIds;
  /** The parts that relay an agent's mail to the customer. */
  readonly render: (
    agent: Pick<OutboundMessage, "markdown" | "files"> & { readonly name: string | null },
  ) => readonly Part[];
  /** Stores the files of such a mail, which has this event id. */
  readonly relay: (
    thread: string,
    id: string,
    files: readonly InboundFile[],
    signal: AbortSignal,
  ) => Promise<RelayedFiles>;
}

/** A mail that an agent has written in a thread. */
export async function takeAgentMail(
  { host, names, render, relay }: MailDependencies,
  mail: Mail,
  place: MailLocation,
  id: string,
  at: { readonly sentAt: number },
  thread: string,
  author: { readonly email: string; readonly name: string | null },
  signal: AbortSignal,
): Promise<MailOutcome> {
  const message = messageText(mail, { begins: false, takesForwarded: false });
  const correspondence = await host.threads.correspondence(thread, 20);
  const customer = correspondence === null ? undefined : correspondence.email?.toLowerCase();
  const reached = [...mail.to, ...mail.cc].some(({ address }) => address.toLowerCase() === customer);
  const isRelayed = !place.sent && !reached;
  const { files: attached, beyond } = filesOf(mail, place);
  // Forwarded and quoted mails were not written for the customer, so they are not relayed.
  const lacksWords = isRelayed ? message.lacksWords : undefined;
  if (lacksWords === "forward" || (lacksWords === "other" && attached.length === 0)) {
    const unsent = `A mail of ${author.name ?? author.email} was not sent on to the customer, because it has no words of their own. It is in the mailbox alone: ${message.text.slice(0, 1_000).toWellFormed()}`;
    await host.accept({ kind: "notice", externalId: id, thread, ...at, text: unsent });
    return { kind: "noted" };
  }
  const text = lacksWords === undefined ? message.text : baseSubject(mail.subject);
  const relayed = isRelayed && attached.length > 0 ? await relay(thread, id, attached, signal) : undefined;
  const files = relayed === undefined ? attached : relayed.stored;
  // When this fails, the mail is read again and its files are found stored.
  const { duplicate, messageId } = await host.accept({
    kind: "agent",
    externalId: id,
    ...(mail.messageId === null
      ? {}
      : { messageExternalId: markOf(mail.messageId), messageRefs: [markOf(mail.messageId)] }),
    thread,
    ...at,
    author,
    text,
    metadata: {
      mail: recordOf(names, mail, place, mail.from ?? { address: author.email, name: "" }, "pass", message.original),
    },
    ...(files.length === 0 ? {} : { files }),
    ...(isRelayed ? { parts: render({ name: author.name, markdown: text, files: relayed?.outbound ?? [] }) } : {}),
  });
  // Files of an accepted message are no uploads any more.
  if (duplicate || messageId === null) await relayed?.drop();
  if (messageId === null && !duplicate) return ignored("its thread has no conversation");
  const left = [...(relayed?.left ?? []), ...beyondText(beyond)];
  if (left.length > 0) {
    await host.accept({
      kind: "notice",
      externalId: `${id}:files`,
      thread,
      ...at,
      text: `Not all that ${author.name ?? author.email} has sent along ${isRelayed ? "went on to the customer" : "is here"}. ${left.join(" ")}`,
    });
  }
  return { kind: "stored", thread, duplicate };
}

/** A mail in the folder of sent mails: an agent's reply from a mail program, if it belongs to a thread. */
export async function takeSentMail(
  dependencies: MailDependencies,
  mail: Mail,
  place: MailLocation,
  id: string,
  at: { readonly sentAt: number },
  signal: AbortSignal,
): Promise<MailOutcome> {
  const { host, config, names } = dependencies;
  const thread = names.threadFrom(mail) ?? (await host.threads.findByMessageRef(messageRefsOf(mail)));
  if (thread === undefined || thread === null) return ignoredOwn("it belongs to no conversation");
  const automatic = automaticKind(mail);
  // A person may write as no-reply@, so bulk mail counts as written.
  if (automatic !== undefined && automatic.kind !== "bulk")
    return ignoredOwn(`a machine has sent it: ${automatic.reason}`);
  const email = mail.from?.address.toLowerCase() ?? config.address.toLowerCase();
  const agent = await host.people.agent(email);
  const name = mail.from === null || mail.from.name === "" ? null : mail.from.name;
  return takeAgentMail(dependencies, mail, place, id, at, thread, agent ?? { email, name }, signal);
}

import { createHash } from "node:crypto";
import type { ChannelHost, InboundEvent, InboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { EmailConfig } from "./config.ts";
import { takeBounce } from "./inbound/bounce.ts";
import type { MailLocation } from "./inbound/files.ts";
import { beyondText, filesOf } from "./inbound/files.ts";
import type { MailOutcome } from "./inbound/outcome.ts";
import { ignored, ignoredOwn } from "./inbound/outcome.ts";
import type { MailRecord } from "./inbound/record.ts";
import { eventId, messageRefsOf, recordOf } from "./inbound/record.ts";
import type { RelayedFiles } from "./inbound/relayed-files.ts";
import { baseSubject, messageText, textsOf } from "./inbound/text.ts";
import type { MessageIds } from "./mime/message-ids.ts";
import { base32, markOf } from "./mime/message-ids.ts";
import { verdictOf } from "./mime/authentication.ts";
import { automaticKind } from "./mime/automatic-mail.ts";
import { groupSender, withoutList } from "./inbound/group.ts";
import type { Mail } from "./mime/mail.ts";

export interface Events {
  /** Resolves once the outcome is durable. Rejects when the mail could not be stored, and when `signal` aborts. */
  take(mail: Mail, place: MailLocation, signal: AbortSignal): Promise<MailOutcome>;
}

const hourMs = 3_600_000;

export interface EventsDependencies {
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

/** Turns mails into events. */
export function createEvents({ host, config, names, render, relay }: EventsDependencies): Events {
  return {
    async take(mail, place, signal) {
      if (names.isOurs(mail)) return ignoredOwn("it was sent by Parley");
      const id = eventId(mail);
      const at = { sentAt: place.sent ? (mail.date ?? place.receivedAt) : place.receivedAt };
      if (place.sent) return takeSent(mail, place, id, at, signal);

      const group = groupSender(mail, names.isOwnAddress);
      const automatic = automaticKind(group === undefined ? mail : { ...mail, headers: withoutList(mail.headers) });
      if (automatic?.kind === "bounce") return takeBounce({ host, names }, mail, id, at);
      const thread = await threadOf(mail);
      if (automatic !== undefined && !isForm(mail)) {
        if (automatic.kind === "bulk" || thread === undefined) return ignored(automatic.reason);
        const text = `An automatic reply has come by e-mail from ${mail.from?.address ?? "an unknown address"}; nobody answers it: ${textsOf(mail, { takesForwarded: false }).text.slice(0, 1_000)}`;
        await host.accept({ kind: "notice", externalId: id, thread, ...at, text });
        return { kind: "noted" };
      }
      return takeMail(group ?? mail, place, id, at, thread, signal);
    },
  };

  /** A mail written by a person. */
  async function takeMail(
    mail: Mail,
    place: MailLocation,
    id: string,
    at: { readonly sentAt: number },
    known: string | undefined,
    signal: AbortSignal,
  ): Promise<MailOutcome> {
    const form = isForm(mail);
    const from = form ? mail.replyTo[0] : mail.from;
    if (from === undefined || from === null) return ignored("it has no sender who could be answered");
    const verdict = form ? "unchecked" : verdictOf(mail, config.authserv_id);
    const proven = verdict === "pass";
    if (verdict === "fail" && config.dmarc_fail === "ignore") return ignored("its sender is forged: DMARC failed");
    if (names.isOwnAddress(from.address) && !(proven && known !== undefined)) {
      return ignored("it is written in the name of this mailbox itself");
    }
    if (known !== undefined && proven) {
      const agent = names.isOwnAddress(from.address)
        ? { email: from.address.toLowerCase(), name: from.name === "" ? null : from.name }
        : await host.people.agent(from.address);
      if (agent !== null) return takeAgent(mail, place, id, at, known, agent, signal);
    }
    const address = from.address.toLowerCase();
    const { text, forwarded, original } = messageText(mail, {
      begins: known === undefined || (await hasNewSubject(mail, known)),
      takesForwarded: true,
    });
    const { files } = filesOf(mail, place);
    const [answered] = messageRefsOf(mail);
    const thread = known ?? base32(createHash("sha256").update(id).digest()).slice(0, 16);
    const event: InboundEvent = {
      kind: "message",
      externalId: id,
      ...(mail.messageId === null ? {} : { messageExternalId: markOf(mail.messageId) }),
      thread,
      sender: {
        key: proven ? address : `unverified:${address}`.slice(0, 190),
        ...(from.name === "" ? {} : { name: from.name }),
        ...(proven ? { proven: { email: address } } : { claimed: { email: address } }),
      },
      ...at,
      text,
      metadata: { mail: recordOf(names, mail, place, from, verdict, original) },
      checkSender: true,
      botLimit: { max: config.bot_mails_per_hour ?? 10, withinMs: hourMs, email: address },
      ...(mail.messageId === null ? {} : { messageRefs: [markOf(mail.messageId)] }),
      ...(files.length === 0 ? {} : { files }),
      ...(forwarded === undefined ? {} : { forwarded }),
      ...(answered === undefined ? {} : { refersTo: { externalIds: [answered], isUsual: true } }),
    };
    const { duplicate } = await host.accept(event);
    return { kind: "stored", thread, duplicate };
  }

  async function takeAgent(
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
  async function takeSent(
    mail: Mail,
    place: MailLocation,
    id: string,
    at: { readonly sentAt: number },
    signal: AbortSignal,
  ): Promise<MailOutcome> {
    const thread = names.threadFrom(mail) ?? (await host.threads.findByMessageRef(messageRefsOf(mail)));
    if (thread === undefined || thread === null) return ignoredOwn("it belongs to no conversation");
    const automatic = automaticKind(mail);
    // A person may write as no-reply@, so bulk mail counts as written.
    if (automatic !== undefined && automatic.kind !== "bulk")
      return ignoredOwn(`a machine has sent it: ${automatic.reason}`);
    const email = mail.from?.address.toLowerCase() ?? config.address.toLowerCase();
    const agent = await host.people.agent(email);
    const name = mail.from === null || mail.from.name === "" ? null : mail.from.name;
    return takeAgent(mail, place, id, at, thread, agent ?? { email, name }, signal);
  }

  /**
   * The thread of the mail: by the address that it was sent to, else by the mails that it refers to, if its author is their
   * customer or an agent. Never by its subject.
   */
  async function threadOf(mail: Mail): Promise<string | undefined> {
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
  async function hasNewSubject(mail: Mail, thread: string): Promise<boolean> {
    const messages = (await host.threads.correspondence(thread, 20))?.messages ?? [];
    const subjects = messages.flatMap(({ metadata }) => {
      const { mail: record } = metadata as { readonly mail?: Partial<MailRecord> };
      return record?.subject === undefined ? [] : [baseSubject(record.subject).toLowerCase()];
    });
    return subjects.length > 0 && !subjects.includes(baseSubject(mail.subject).toLowerCase());
  }

  /** A form on the website, which writes in its own name and names the customer in Reply-To. */
  function isForm(mail: Mail): boolean {
    const from = mail.from?.address.toLowerCase();
    return (config.forms ?? []).some((form) => form.toLowerCase() === from) && mail.replyTo.length > 0;
  }
}

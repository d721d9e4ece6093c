import { createHash } from "node:crypto";
import type { ChannelHost, InboundEvent, InboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { verdictOf } from "./mime/authentication.ts";
import type { Verdict } from "./mime/authentication.ts";
import { automaticKind } from "./mime/automatic-mail.ts";
import type { Bounce } from "./mime/bounces.ts";
import { readBounce } from "./mime/bounces.ts";
import { htmlText } from "#channels/text/html-text.ts";
import type { Address, Mail } from "./mime/mail.ts";
import type { MessageIds } from "./message-ids.ts";
import { base32, markOf } from "./message-ids.ts";
import type { Relayed } from "./relayed-files.ts";
import type { EmailConfig } from "./config.ts";
import { visibleText } from "./mime/visible-text.ts";

/** Where a mail lies, so that its parts can be fetched again. */
export interface MailLocation {
  readonly folder: string;
  readonly uidValidity: string;
  readonly uid: number;
  /** When the server received it, epoch milliseconds. */
  readonly receivedAt: number;
  /** In the folder of sent mails stands only what the mailbox's owners have sent. */
  readonly sent: boolean;
}

/** What {@link InboundFile.ref} holds. */
export interface FileRef {
  readonly folder: string;
  readonly v: string;
  readonly uid: number;
  readonly part: string;
  readonly id: string | null;
}

/** What the adapter stores beside a message, to answer it. */
export interface MailRecord {
  readonly subject: string;
  readonly message_id: string | null;
  readonly from: string;
  readonly reply_to: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly references: readonly string[];
  readonly dmarc: Verdict;
  readonly in: { readonly folder: string; readonly uid_validity: string; readonly uid: number };
  /** All that stood in it, where the message is less. */
  readonly original?: string;
}

export interface Events {
  /** Resolves with what became of it when that is durable; rejects when it could not be stored, and when `signal` aborts. */
  take(mail: Mail, place: MailLocation, signal: AbortSignal): Promise<MailOutcome>;
}

export type MailOutcome =
  | { readonly kind: "stored"; readonly thread: string; readonly duplicate: boolean }
  | { readonly kind: "noted" }
  | { readonly kind: "ignored"; readonly reason: string };

const textMax = 20_000;
const originalMax = 32_000;
const filesMax = 20;
const namesShownMax = 10;
const copiesMax = 20;
const referencesMax = 30;
const hourMs = 3_600_000;
/** How far back who was in copy is looked for. */
const lettersMax = 100;

const lower = (text: string): string => text.toLowerCase();

const ignored = (reason: string): MailOutcome => ({ kind: "ignored", reason });

export interface EventsDependencies {
  readonly host: ChannelHost;
  readonly config: EmailConfig;
  readonly names: MessageIds;
  /** How a mail that an agent has sent to us alone goes on to the customer. */
  readonly render: (
    agent: Pick<OutboundMessage, "markdown" | "files"> & { readonly name: string | null },
  ) => readonly Part[];
  /** What came with such a mail, which has this id. */
  readonly relay: (thread: string, id: string, files: readonly InboundFile[], signal: AbortSignal) => Promise<Relayed>;
}

/** The way of a mail to the host. */
export function createEvents({ host, config, names, render, relay }: EventsDependencies): Events {
  const botMailsMax = config.bot_mails_per_hour ?? 10;

  return {
    async take(mail, place, signal) {
      if (names.isOurs(mail)) return ignored("this program has sent it");
      const id = eventId(mail);
      const at = { sentAt: place.sent ? (mail.date ?? place.receivedAt) : place.receivedAt };
      if (place.sent) return takeSent(mail, place, id, at, signal);

      const automatic = automaticKind(mail);
      if (automatic?.kind === "bounce") return takeBounce(mail, id, at);
      const thread = await threadOf(mail);
      if (automatic !== undefined && !isForm(mail)) {
        if (automatic.kind === "bulk" || thread === undefined) return ignored(automatic.reason);
        const text = `An automatic reply has come by e-mail from ${mail.from?.address ?? "an unknown address"}; nobody answers it: ${textsOf(mail, false).text.slice(0, 1_000)}`;
        await host.accept({ kind: "notice", externalId: id, thread, ...at, text });
        return { kind: "noted" };
      }
      return takeLetter(mail, place, id, at, thread, signal);
    },
  };

  /** A mail that a person has written. */
  async function takeLetter(
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
        : await host.agent(from.address);
      if (agent !== null) return takeAgent(mail, place, id, at, known, agent, signal);
    }
    const address = from.address.toLowerCase();
    const { text, original } = messageText(mail, {
      begins: known === undefined,
      isForward: forwardSubject.test(mail.subject),
    });
    const { files } = filesOf(mail, place);
    const limited = (await host.botMessagesTo(address, host.clock.now() - hourMs)) >= botMailsMax;
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
      metadata: { mail: recordOf(mail, place, from, verdict, original) },
      checkSender: true,
      ...(mail.messageId === null ? {} : { marks: [markOf(mail.messageId)] }),
      ...(files.length === 0 ? {} : { files }),
      ...(limited
        ? {
            peopleOnly: `The bot has written ${botMailsMax} e-mails to ${address} within an hour, and stops: another program may be answering it. Answer yourself if it is a person.`,
          }
        : {}),
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
    // What an agent forwards was not written for the customer, to whom this may go on.
    const { text, original } = messageText(mail, { begins: false, isForward: false });
    const letters = await host.correspondence(thread, 20);
    const customer = letters === null ? undefined : letters.email?.toLowerCase();
    const reached = [...mail.to, ...mail.cc].some(({ address }) => address.toLowerCase() === customer);
    const goesOn = !place.sent && !reached;
    const { files: attached, beyond } = filesOf(mail, place);
    const relayed = goesOn && attached.length > 0 ? await relay(thread, id, attached, signal) : undefined;
    const files = relayed === undefined ? attached : relayed.stored;
    // Where this fails the mail is read again, and finds its files stored.
    const { duplicate, messageId } = await host.accept({
      kind: "agent",
      externalId: id,
      ...(mail.messageId === null
        ? {}
        : { messageExternalId: markOf(mail.messageId), marks: [markOf(mail.messageId)] }),
      thread,
      ...at,
      author,
      text,
      metadata: { mail: recordOf(mail, place, mail.from ?? { address: author.email, name: "" }, "pass", original) },
      ...(files.length === 0 ? {} : { files }),
      ...(goesOn ? { parts: render({ name: author.name, markdown: text, files: relayed?.outbound ?? [] }) } : {}),
    });
    // What the message has taken is no upload any more, and stays.
    if (duplicate || messageId === null) await relayed?.drop();
    if (messageId === null && !duplicate) return ignored("its thread has no conversation");
    const left = [...(relayed?.left ?? []), ...beyondText(beyond)];
    if (left.length > 0) {
      await host.accept({
        kind: "notice",
        externalId: `${id}:files`,
        thread,
        ...at,
        text: `Not all that ${author.name ?? author.email} has sent along ${goesOn ? "went on to the customer" : "is here"}. ${left.join(" ")}`,
      });
    }
    return { kind: "stored", thread, duplicate };
  }

  /** Sent by somebody who has the mailbox's password, with a mail program: an agent's reply if it belongs to a thread. */
  async function takeSent(
    mail: Mail,
    place: MailLocation,
    id: string,
    at: { readonly sentAt: number },
    signal: AbortSignal,
  ): Promise<MailOutcome> {
    const thread = names.threadFrom(mail) ?? (await host.threadOf(marksOf(mail)));
    if (thread === undefined || thread === null) return ignored("it belongs to no conversation");
    const automatic = automaticKind(mail);
    // A person may well write as no-reply@: what counts is that a machine has answered.
    if (automatic !== undefined && automatic.kind !== "bulk")
      return ignored(`a machine has sent it: ${automatic.reason}`);
    const email = mail.from?.address.toLowerCase() ?? config.address.toLowerCase();
    const agent = await host.agent(email);
    const name = mail.from === null || mail.from.name === "" ? null : mail.from.name;
    return takeAgent(mail, place, id, at, thread, agent ?? { email, name }, signal);
  }

  async function takeBounce(mail: Mail, id: string, at: { readonly sentAt: number }): Promise<MailOutcome> {
    const bounce = readBounce(mail);
    if (bounce === undefined) return ignored("it reports on a mail that it does not name");
    const thread = names.threadFrom(mail) ?? (await host.threadOf(bounce.about.slice(0, referencesMax).map(markOf)));
    if (thread === null) return ignored("it reports on a mail that this program has not sent");
    if (bounce.state === "delayed") {
      const text = `An e-mail to the customer is late, and its server goes on trying. ${bounce.reason}`;
      await host.accept({ kind: "notice", externalId: id, thread, ...at, text });
      return { kind: "noted" };
    }
    const { state } = bounce;
    if (await isOfCopies(bounce, thread)) {
      const text = `A copy of an e-mail to the customer could not be delivered. ${bounce.reason}`;
      await host.accept({ kind: "notice", externalId: id, thread, ...at, text });
      return { kind: "noted" };
    }
    const about = bounce.about.find((each) => names.isOurId(each));
    // A server that gave the mail another name reports on that one: then the thread is all that is known.
    if (about === undefined) {
      const text = `An e-mail of this conversation ${state === "failed" ? "could not be delivered" : "was delivered"}. ${bounce.reason}`;
      await host.accept({ kind: "notice", externalId: id, thread, ...at, text });
      return { kind: "noted" };
    }
    await host.accept({
      kind: "delivery",
      externalId: id,
      partExternalId: markOf(about),
      state,
      ...(state === "failed" ? { error: bounce.reason } : {}),
      ...at,
    });
    return { kind: "noted" };
  }

  /** Whether all that the mail was not delivered to were in copy. */
  async function isOfCopies({ state, failedFor }: Bounce, thread: string): Promise<boolean> {
    if (state !== "failed" || failedFor.length === 0) return false;
    const letters = await host.correspondence(thread, lettersMax);
    const records = (letters?.messages ?? []).flatMap(({ metadata }) => (metadata["mail"] ?? []) as MailRecord | []);
    const customers = new Set([letters?.email ?? "", ...records.map((each) => each.reply_to)].map(lower));
    const copies = new Set(records.flatMap(({ cc }) => cc.map(lower)));
    return failedFor.every(
      (known) => known.some((each) => copies.has(each)) && !known.some((each) => customers.has(each)),
    );
  }

  /**
   * The thread that the mail belongs to: by the address that it went to, else by the mails that it refers to, if it is
   * their customer or an agent who writes. Never by its subject.
   */
  async function threadOf(mail: Mail): Promise<string | undefined> {
    const addressed = names.threadFrom(mail);
    if (addressed !== undefined && (await host.correspondence(addressed, 1)) !== null) return addressed;
    const referred = await host.threadOf(marksOf(mail));
    if (referred === null || mail.from === null) return undefined;
    const customer = (await host.correspondence(referred, 1))?.email?.toLowerCase();
    const from = mail.from.address.toLowerCase();
    if (customer === from || names.isOwnAddress(from) || (await host.agent(from)) !== null) return referred;
    // An answering machine may write from another address than it was written to.
    return automaticKind(mail) === undefined ? undefined : referred;
  }

  /** A form on the website, which writes in its own name and tells whom to reply to. */
  function isForm(mail: Mail): boolean {
    const from = mail.from?.address.toLowerCase();
    return (config.forms ?? []).some((form) => form.toLowerCase() === from) && mail.replyTo.length > 0;
  }

  function recordOf(
    mail: Mail,
    place: MailLocation,
    from: Address,
    dmarc: Verdict,
    original: string | undefined,
  ): MailRecord {
    const own = ({ address }: Address): boolean => !names.isOwnAddress(address);
    return {
      subject: mail.subject,
      message_id: mail.messageId,
      from: from.address,
      reply_to: mail.replyTo.find(own)?.address ?? from.address,
      to: mail.to.slice(0, copiesMax).map(({ address }) => address),
      cc: copiesOf(mail, from),
      references: mail.references.slice(0, referencesMax),
      dmarc,
      in: { folder: place.folder, uid_validity: place.uidValidity, uid: place.uid },
      ...(original === undefined ? {} : { original }),
    };
  }

  /** Who else has got it, and so gets the answer. */
  function copiesOf(mail: Mail, from: Address): readonly string[] {
    const all = [...mail.to, ...mail.cc].map(({ address }) => address);
    const others = all.filter(
      (address) => !names.isOwnAddress(address) && address.toLowerCase() !== from.address.toLowerCase(),
    );
    return [...new Map(others.map((address) => [address.toLowerCase(), address])).values()].slice(0, copiesMax);
  }
}

const marksOf = (mail: Mail): readonly string[] => mail.references.slice(0, referencesMax).map(markOf);

/** The same for the same mail, whichever way and however often it comes. */
function eventId(mail: Mail): string {
  const parts = [
    mail.messageId ?? `${mail.date ?? ""}\n${mail.subject}`,
    mail.from?.address.toLowerCase() ?? "",
    mail.bodyHash,
  ];
  return `mail:${createHash("sha256").update(parts.join("\n")).digest("hex")}`;
}

/** What the mail says, and what of it is new. */
function textsOf(mail: Mail, isForward: boolean): { readonly whole: string; readonly text: string } {
  const plain = (mail.text ?? "").replaceAll("\r\n", "\n").trim();
  if (plain !== "" || mail.html === null) {
    return { whole: plain, text: withoutMarks(visibleText(plain, isForward).text, mail.attachments) };
  }
  const { text, written } = htmlText(mail.html);
  // Where the mail program has marked it all as quoted, or what is forwarded, the lines themselves decide.
  const own = visibleText(written.trim() === "" || isForward ? text : written, isForward);
  return { whole: text, text: withoutMarks(own.text, mail.attachments) };
}

/** How mail programs begin the subject of what they forward. */
const forwardSubject = /^(?:fwd?|wg|tr|rv|enc|vb|vl|pd|doorst|转发|轉寄|転送)[ \t]{0,3}[:：]/i;

/** Where a picture stands mail programs write its name or a number, which are no words of anybody: it comes along. */
function withoutMarks(text: string, attachments: Mail["attachments"]): string {
  const names = new Set(attachments.map(({ name }) => name));
  if (names.size === 0) return text;
  return text
    .replaceAll(/[ \t]{0,8}\[(?:cid:[^\]\s]{1,300}|(?:image: )?([^[\]\n]{1,200}))\]/g, (mark, name?: string) =>
      name === undefined || names.has(name) ? "" : mark,
    )
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** What is stored of it as the message, and all of it where that is more. */
function messageText(
  mail: Mail,
  { begins, isForward }: { readonly begins: boolean; readonly isForward: boolean },
): { readonly text: string; readonly original: string | undefined } {
  const { whole, text: written } = textsOf(mail, isForward);
  const subject = mail.subject
    .replace(/^(?:(?:re|aw|sv|vs|antw|fwd?|wg|tr|rif|odp)\s{0,3}(?:\[\d{1,3}\])?\s{0,3}:\s{0,5}){1,20}/i, "")
    .trim();
  const cut =
    written.length > textMax ? `${written.slice(0, textMax).toWellFormed()}\n\n[The e-mail goes on.]` : written;
  const named = subject !== "" && (begins || cut === "") && !cut.toLowerCase().includes(subject.toLowerCase());
  const files = mail.attachments.length > 0;
  const text = [
    ...(named ? [subject] : []),
    ...(cut === "" ? [] : [cut]),
    ...(isEncrypted(mail) ? ["[This e-mail is encrypted, and cannot be read here.]"] : []),
    ...(mail.lacks === null ? [] : [`[${mail.lacks}]`]),
  ].join("\n\n");
  return {
    text: text === "" && !files ? "[This e-mail has no text.]" : text,
    original: whole === written ? undefined : whole.slice(0, originalMax).toWellFormed(),
  };
}

const isEncrypted = (mail: Mail): boolean =>
  mail.headers.some(
    ({ name, value }) =>
      name === "content-type" &&
      /^(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime)/i.test(value) &&
      !/signed-data/i.test(value),
  );

interface MailFiles {
  readonly files: readonly InboundFile[];
  /** The names of more than a message has. */
  readonly beyond: readonly string[];
}

function filesOf(mail: Mail, place: MailLocation): MailFiles {
  const all = mail.attachments.flatMap(({ part, name, mediaType, bytes, inline }): InboundFile[] => {
    // The pixel by which a sender sees that a mail was opened, and the logo in a signature's corner.
    if (part === null || (inline && bytes < 200)) return [];
    const ref: FileRef = {
      folder: place.folder,
      v: place.uidValidity,
      uid: place.uid,
      part,
      id: mail.messageId === null || mail.messageId.length > 900 ? null : mail.messageId,
    };
    return [{ ref: JSON.stringify(ref), name, mediaType, bytes }];
  });
  return { files: all.slice(0, filesMax), beyond: all.slice(filesMax).map(({ name }) => name) };
}

function beyondText(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, namesShownMax).map((name) => name.slice(0, 100).toWellFormed());
  const others = names.length - shown.length;
  const list = `${shown.join(", ")}${others === 0 ? "" : ` and ${others} more`}`;
  return [`A message has at most ${filesMax} files; in the mailbox alone: ${list}.`];
}

import type { InboundEvent, InboundFile, Sender } from "#channels/contract.ts";
import { htmlPictures, htmlText } from "#channels/text/html-text.ts";
import { fileName, fileRef, isIntercomPicture } from "./files.ts";
import type { Attachment, Author, Conversation, ConversationPart } from "./payloads.ts";
import { orderOf, sourceId } from "./payloads.ts";

/** The account and workspace that a conversation is read for. */
export interface EventContext {
  readonly appId: string;
  /** The teammate that Parley writes as: their parts came from here. */
  readonly adminId: string;
  /** The messenger accepts a user id only with a signature of the company's server. */
  readonly identityVerification: boolean;
  /** Older parts are ignored, epoch seconds. */
  readonly since: number;
  readonly baseUrl: string;
  /** The workspace's teammates, by id. */
  readonly people: ReadonlyMap<string, Person>;
}

export interface Person {
  readonly email: string;
  readonly name: string | null;
}

const contactTypes: ReadonlySet<string> = new Set(["user", "lead", "contact"]);
const filesMax = 20;
/** The host's limit of characters; Intercom's messages are far shorter. */
const textMax = 100_000;

/** The events of a conversation, or of its delivered parts, in order. */
export function eventsOf(conversation: Conversation, known: EventContext): readonly InboundEvent[] {
  return [
    ...sourceEvents(conversation, known),
    ...conversation.parts
      .filter(({ created_at: createdAt }) => createdAt >= known.since)
      .flatMap((part) => partEvents(conversation, part, known)),
  ];
}

function sourceEvents(conversation: Conversation, known: EventContext): readonly InboundEvent[] {
  const { began, created_at: createdAt } = conversation;
  if (began === undefined || createdAt < known.since || !contactTypes.has(began.author.type)) return [];
  const written = textOf(began.body);
  const subject = began.type === "email" ? textOf(began.subject) : "";
  const text = subject === "" ? written : `${subject}\n\n${written}`.trim();
  const isProven = began.type === "conversation";
  return contactEvents(conversation, known, {
    id: sourceId,
    author: began.author,
    text,
    files: filesOf(conversation, sourceId, began, known),
    createdAt,
    isRedacted: began.redacted === true,
    isProven,
  });
}

function partEvents(conversation: Conversation, part: ConversationPart, known: EventContext): readonly InboundEvent[] {
  const { author } = part;
  if (contactTypes.has(author.type)) {
    return contactEvents(conversation, known, {
      id: String(part.id),
      author,
      text: textOf(part.body),
      files: filesOf(conversation, String(part.id), part, known),
      createdAt: part.created_at,
      isRedacted: part.redacted === true,
      // The author of an e-mail has not signed in to the messenger.
      isProven: (part.email_message_metadata ?? null) === null,
    });
  }
  if (author.type === "admin") return adminEvents(conversation, part, known);
  // Intercom's bots and workflows: their texts are ignored, but they can close conversations.
  return stateEvents(conversation, part, null);
}

interface ContactMessage {
  readonly id: string;
  readonly author: Author;
  readonly text: string;
  readonly files: readonly InboundFile[];
  readonly createdAt: number;
  readonly isRedacted: boolean;
  readonly isProven: boolean;
}

function contactEvents(
  conversation: Conversation,
  known: EventContext,
  written: ContactMessage,
): readonly InboundEvent[] {
  const { id, text, files } = written;
  const thread = String(conversation.id);
  const externalId = `${thread}:${id}`;
  const sender = senderOf(conversation, known, written);
  const base = { thread, sender, sentAt: written.createdAt * 1_000, messageExternalId: externalId };
  if (written.isRedacted) return [{ ...base, kind: "delete", externalId: `${externalId}:redacted` }];
  // A part without text, such as a rating or an added contact.
  if (text === "" && files.length === 0) return [];
  const several = (conversation.contacts?.contacts ?? []).length > 1;
  return [
    {
      ...base,
      kind: "message",
      externalId,
      text,
      ...(files.length === 0 ? {} : { files }),
      ...(several ? { checkSender: true } : {}),
    },
  ];
}

function senderOf({ contacts }: Conversation, known: EventContext, { author, isProven }: ContactMessage): Sender {
  const key = String(author.id);
  const name = filled(author.name)?.slice(0, 200);
  const email = filled(author.email)?.slice(0, 254);
  const contact = contacts?.contacts?.find((each) => String(each.id) === key);
  const userId = filled(contact?.external_id);
  const isVerified = known.identityVerification && isProven && author.type === "user";
  return {
    key,
    ...(name === undefined ? {} : { name }),
    // Only the user id is verified: name and e-mail address may come from the browser.
    ...(isVerified && userId !== undefined && userId.length <= 190 ? { verified: { userId } } : {}),
    ...(email === undefined ? {} : { claimed: { email } }),
  };
}

function adminEvents(conversation: Conversation, part: ConversationPart, known: EventContext): readonly InboundEvent[] {
  const { author, part_type: type } = part;
  const isOurs = String(author.id) === known.adminId;
  const by = personOf(author, known);
  const events: InboundEvent[] = [];
  const thread = String(conversation.id);
  const base = { thread, sentAt: part.created_at * 1_000, externalId: `${thread}:${String(part.id)}` };
  const text = withNames(textOf(part.body), part.attachments ?? []);
  if (!isOurs && text !== "" && part.redacted !== true) {
    events.push(
      type.startsWith("note")
        ? { ...base, kind: "notice", text, author: { email: by.email } }
        : { ...base, kind: "agent", text, author: by },
    );
  }
  events.push(...stateEvents(conversation, part, by, isOurs));
  if (!isOurs) events.push(...assignmentEvents(conversation, part, known));
  return events;
}

/** Part types that open a conversation. */
const opening = /^(?:open|unsnoozed|timer_unsnooze|.+_and_(?:reopen|unsnooze))$/;

function stateEvents(
  conversation: Conversation,
  part: ConversationPart,
  by: Person | null,
  isOurs = false,
): readonly InboundEvent[] {
  const { part_type: type } = part;
  const until = conversation.snoozed_until ?? null;
  const change =
    type === "close"
      ? ({ kind: "closed" } as const)
      : opening.test(type)
        ? ({ kind: "open" } as const)
        : type === "snoozed"
          ? ({ kind: "snoozed", until: until === null ? null : until * 1_000 } as const)
          : undefined;
  return change === undefined ? [] : [stateEvent(conversation, part, isOurs ? { kind: "ours" } : change, by)];
}

/** An assignment by a teammate, mostly to themselves. Assignments by rules, and to teams, claim nothing. */
function assignmentEvents(
  conversation: Conversation,
  part: ConversationPart,
  known: EventContext,
): readonly InboundEvent[] {
  const { assigned_to: to, part_type: type } = part;
  if (!type.startsWith("assign") || to?.type !== "admin" || to.id === undefined || to.id === null) return [];
  const id = String(to.id);
  if (id === known.adminId) return [stateEvent(conversation, part, { kind: "released" }, personOf(part.author, known))];
  const taker = id === String(part.author.id) ? part.author : { type: "admin", id };
  return [stateEvent(conversation, part, { kind: "taken" }, personOf(taker, known))];
}

type StateEvent = Extract<InboundEvent, { readonly kind: "state" }>;

export function stateEvent(
  conversation: Pick<Conversation, "id">,
  part: Pick<ConversationPart, "id" | "created_at">,
  change: StateEvent["change"],
  by: Person | null,
): StateEvent {
  const thread = String(conversation.id);
  // One part can both assign and reopen a conversation, so the two events need different ids.
  const what = change.kind === "taken" || change.kind === "released" ? "assigned" : "state";
  return {
    kind: "state",
    externalId: `${thread}:${String(part.id)}:${what}`,
    thread,
    sentAt: part.created_at * 1_000,
    change,
    by,
    order: orderOf(part),
  };
}

/** A teammate known only by id gets an invalid address. */
function personOf({ id, name, email }: Author, { people, appId }: EventContext): Person {
  const known = people.get(String(id));
  const address = filled(email) ?? known?.email;
  return {
    email: (address ?? `teammate-${String(id)}@${appId.toLowerCase()}.invalid`).slice(0, 190),
    name: (filled(name) ?? known?.name ?? null)?.slice(0, 190) ?? null,
  };
}

function textOf(html: string | null | undefined): string {
  return html === null || html === undefined ? "" : htmlText(html).text.trim().slice(0, textMax);
}

const filled = (text: string | null | undefined): string | undefined => {
  const trimmed = text?.trim();
  return trimmed === undefined || trimmed === "" ? undefined : trimmed;
};

/** Lists an agent's files by name: their bytes stay in Intercom. */
function withNames(text: string, attachments: readonly Attachment[]): string {
  const names = attachments.map(({ name }) => `[${filled(name) ?? "file"}]`);
  return [text, ...names].filter((each) => each !== "").join("\n");
}

function filesOf(
  { id }: Conversation,
  partId: string,
  { attachments, body }: { readonly attachments?: readonly Attachment[] | null; readonly body?: string | null },
  { baseUrl }: EventContext,
): readonly InboundFile[] {
  const attached = (attachments ?? []).map((each) => ({
    url: each.url,
    name: filled(each.name) ?? fileName(each.url),
    mediaType: filled(each.content_type) ?? "application/octet-stream",
    bytes: typeof each.filesize === "number" && each.filesize >= 0 ? Math.floor(each.filesize) : null,
  }));
  const pictures = htmlPictures(body ?? "")
    .filter((url) => isIntercomPicture(url, baseUrl) && !attached.some((each) => each.url === url))
    .map((url) => ({ url, name: fileName(url), mediaType: "application/octet-stream", bytes: null }));
  return [...attached, ...pictures].slice(0, filesMax).map(({ url, name, ...rest }, index) => ({
    ref: fileRef({ conversation: String(id), part: partId, index, url }),
    name: name.slice(0, 255),
    ...rest,
  }));
}

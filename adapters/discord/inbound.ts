import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import type { DiscordMessage, DiscordPress } from "./payloads.ts";
import { forwardedIn, madeAt, pollIn } from "./payloads.ts";

type MessageEvent = Extract<InboundEvent, { kind: "message" }>;
type TextChange = Extract<InboundEvent, { kind: "edit" | "delete" }>;

/** A plain message, and one that answers another. All other types are Discord's own news. */
const writtenTypes = new Set([0, 19]);

/** Why nobody who could be answered has written this; undefined for a customer. */
export function notACustomer({ author, webhook_id, type }: DiscordMessage): string | undefined {
  if (author.bot === true) return "a bot has written it";
  if (webhook_id !== undefined) return "a webhook has written it";
  return writtenTypes.has(type) ? undefined : "it is Discord's own news";
}

export function mentions(message: DiscordMessage, userId: string): boolean {
  return (message.mentions ?? []).some(({ id }) => id === userId);
}

/** A customer's message; null when there is nothing in it. Pure. */
export function messageEvent(message: DiscordMessage, thread: string, botId: string): MessageEvent | null {
  const files = filesOf(message);
  const text = textOf(message, botId);
  if (text === "" && files.length === 0) return null;
  return {
    kind: "message",
    externalId: eventId(message.id),
    messageExternalId: message.id,
    thread,
    sender: senderOf(message),
    sentAt: madeAt(message.id),
    text,
    ...(files.length === 0 ? {} : { files }),
    metadata: {
      ...(message.author.username === undefined ? {} : { username: message.author.username }),
      ...(message.guild_id === undefined ? {} : { guild: message.guild_id }),
    },
  };
}

/** What the button for a person is called. */
export const personButton = "parley:human";

/** Whoever presses it twice has asked once. Null: nobody can have pressed it. */
export function pressEvent(press: DiscordPress, thread: string, label: string): MessageEvent | null {
  const author = press.member?.user ?? press.user;
  if (author === undefined || author.bot === true) return null;
  return {
    kind: "message",
    externalId: `press:${press.message.id}:${author.id}`,
    // Of the same counter as messages are: what comes after it is found by it.
    messageExternalId: press.id,
    thread,
    sender: senderOf({ author }),
    sentAt: madeAt(press.id),
    text: label,
    wantsPerson: true,
  };
}

export const eventId = (messageId: string): string => `message:${messageId}`;

/** Also delivered when a link's preview is made: then it was not edited, and nothing comes of it. */
export function editEvent(message: DiscordMessage, thread: string, botId: string): TextChange | null {
  const edited = message.edited_timestamp ?? null;
  if (edited === null) return null;
  return {
    kind: "edit",
    externalId: `edit:${message.id}:${edited}`.slice(0, 190),
    messageExternalId: message.id,
    thread,
    sender: senderOf(message),
    sentAt: instantOf(edited) ?? madeAt(message.id),
    text: textOf(message, botId),
  };
}

export function deleteEvent(messageId: string, thread: string, now: number): TextChange {
  return {
    kind: "delete",
    externalId: `delete:${messageId}`,
    messageExternalId: messageId,
    thread,
    // Discord does not say whose it was, and only its author's message can be meant.
    sender: { key: "unknown" },
    sentAt: now,
  };
}

function instantOf(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

function senderOf({ author }: Pick<DiscordMessage, "author">) {
  const name = author.global_name ?? author.username ?? "";
  return { key: author.id, ...(name === "" ? {} : { name: name.slice(0, 190) }) };
}

/** What was written, with the names of those it mentions; that it mentions the bot says nothing. */
function textOf(message: DiscordMessage, botId: string): string {
  const names = new Map(
    (message.mentions ?? []).map(({ id, global_name, username }) => [id, global_name ?? username ?? id]),
  );
  const written = message.content.replaceAll(/<@!?([0-9]{1,20})>/g, (whole, id: string) =>
    id === botId ? "" : names.has(id) ? `@${names.get(id) ?? ""}` : whole,
  );
  const text = written === message.content ? written : written.trim();
  const poll = pollIn(message);
  const forwarded = forwardedIn(message).map((each) =>
    `[forwarded] ${joined([each.content ?? "", stickersOf(each)])}`.trim(),
  );
  return joined([text, stickersOf(message), poll === undefined ? "" : `[poll: ${poll}]`, ...forwarded]);
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n");

const stickersOf = ({ sticker_items: stickers = [] }: Pick<DiscordMessage, "sticker_items">): string =>
  stickers.map(({ name }) => `[sticker: ${name}]`).join("\n");

/** Their addresses end after a day: a file is known by the message that has it, and is looked up when it is fetched. */
function filesOf(message: DiscordMessage): readonly InboundFile[] {
  const { channel_id, id, attachments = [] } = message;
  const along = forwardedIn(message).flatMap(({ attachments: passedOn = [] }) => passedOn);
  return [...attachments, ...along].slice(0, 20).map((file) => ({
    ref: `${channel_id}/${id}/${file.id}`,
    name: file.filename,
    mediaType: file.content_type ?? "application/octet-stream",
    bytes: file.size ?? null,
  }));
}

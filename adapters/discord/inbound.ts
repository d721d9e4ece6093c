import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import type { Opinion } from "#channels/opinion-buttons.ts";
import type { DiscordMessage, DiscordPress, DiscordReaction } from "./payloads.ts";
import { forwardedText } from "#channels/text/forwarded.ts";
import { answeredIn, forwardedIn, madeAt, pollIn } from "./payloads.ts";

type MessageEvent = Extract<InboundEvent, { kind: "message" }>;
type TextChange = Extract<InboundEvent, { kind: "edit" | "delete" }>;

/** Message types: default and reply. All other types are system messages. */
const writtenTypes = new Set([0, 19]);

/** The reason why a message has no customer as its author; undefined for a customer's message. */
export function notACustomer({ author, webhook_id, type }: DiscordMessage): string | undefined {
  if (author.bot === true) return "its author is a bot";
  if (webhook_id !== undefined) return "its author is a webhook";
  return writtenTypes.has(type) ? undefined : "it is a system message";
}

export function mentions(message: DiscordMessage, userId: string): boolean {
  return (message.mentions ?? []).some(({ id }) => id === userId);
}

/** A customer's message; null for an empty one. Pure. */
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
    ...referenceOf(message),
    ...(forwardedIn(message).length === 0 ? {} : { forwarded: { isBelow: true } }),
    ...(files.length === 0 ? {} : { files }),
    metadata: {
      ...(message.author.username === undefined ? {} : { username: message.author.username }),
      ...(message.guild_id === undefined ? {} : { guild: message.guild_id }),
    },
  };
}

function referenceOf(message: DiscordMessage): Pick<MessageEvent, "refersTo"> {
  const answered = answeredIn(message);
  if (answered === undefined) return {};
  const { channelId, id, text } = answered;
  // A reply of ours is known with its channel, a customer's message without.
  return { refersTo: { externalIds: [`${channelId}:${id}`, id], ...(text === "" ? {} : { text }) } };
}

const presserOf = ({ member, user }: DiscordPress): DiscordMessage["author"] | undefined => {
  const presser = member?.user ?? user;
  return presser?.bot === true ? undefined : presser;
};

/** A press of a thumb or a star. Null: the press has no customer. */
export function opinionEvent(press: DiscordPress, thread: string, opinion: Opinion): InboundEvent | null {
  const author = presserOf(press);
  if (author === undefined) return null;
  const sender = senderOf({ author });
  return { ...opinion, externalId: `press:${press.id}`, thread, sender, sentAt: madeAt(press.id) };
}

/** A customer's presses of one button for a person are one event. Null: the press has no customer. */
export function personEvent(press: DiscordPress, thread: string, label: string): MessageEvent | null {
  const author = presserOf(press);
  if (author === undefined) return null;
  return {
    kind: "message",
    externalId: `press:${press.message.id}:${author.id}`,
    // Interaction ids and message ids share a counter, so catch-up can read the messages after a press.
    messageExternalId: press.id,
    thread,
    sender: senderOf({ author }),
    sentAt: madeAt(press.id),
    text: label,
    wantsPerson: true,
  };
}

export const eventId = (messageId: string): string => `message:${messageId}`;

/** Null for updates without an edit, which Discord sends when it adds the preview of a link. */
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
    // Discord does not name the author, and the host does not need it.
    sender: { key: "unknown" },
    sentAt: now,
  };
}

/** Discord numbers no reactions: one that it delivers again has another time, and no effect. Null: a bot's. */
export function reactionEvent(reaction: DiscordReaction, thread: string, isAdded: boolean, now: number) {
  const { user_id: userId, channel_id, message_id: id, member, emoji } = reaction;
  if (member?.user?.bot === true) return null;
  const { name } = emoji;
  // A deleted emoji of a server has no name.
  const sign = typeof name !== "string" ? "" : typeof emoji.id === "string" ? `:${name.slice(0, 30)}:` : name;
  const event: InboundEvent = {
    kind: "reaction",
    externalId: `reaction:${id}:${userId}:${isAdded ? "+" : "-"}:${emoji.id ?? sign}:${now}`.slice(0, 190),
    thread,
    sender: senderOf({ author: member?.user ?? { id: userId } }),
    sentAt: now,
    of: { externalIds: [`${channel_id}:${id}`, id] },
    added: isAdded ? [sign] : [],
    removed: isAdded ? [] : [sign],
  };
  return event;
}

function instantOf(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

function senderOf({ author }: Pick<DiscordMessage, "author">) {
  const name = author.global_name ?? author.username ?? "";
  return { key: author.id, ...(name === "" ? {} : { name: name.slice(0, 190) }) };
}

/** The text with mentions as names; mentions of the bot are removed. */
function textOf(message: DiscordMessage, botId: string): string {
  const names = new Map(
    (message.mentions ?? []).map(({ id, global_name, username }) => [id, global_name ?? username ?? id]),
  );
  const written = message.content.replaceAll(/<@!?([0-9]{1,20})>/g, (whole, id: string) =>
    id === botId ? "" : names.has(id) ? `@${names.get(id) ?? ""}` : whole,
  );
  const text = written === message.content ? written : written.trim();
  const poll = pollIn(message);
  const forwarded = forwardedIn(message).map((each) => forwardedText(joined([each.content ?? "", stickersOf(each)])));
  return joined([text, stickersOf(message), poll === undefined ? "" : `[poll: ${poll}]`, ...forwarded]);
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n");

const stickersOf = ({ sticker_items: stickers = [] }: Pick<DiscordMessage, "sticker_items">): string =>
  stickers.map(({ name }) => `[sticker: ${name}]`).join("\n");

/** File addresses expire after a day, so the reference holds the message's id, and the address is read on fetch. */
function filesOf(message: DiscordMessage): readonly InboundFile[] {
  const { channel_id, id, attachments = [] } = message;
  const forwarded = forwardedIn(message).flatMap(({ attachments: inner = [] }) => inner);
  return [...attachments, ...forwarded].slice(0, 20).map((file) => ({
    ref: `${channel_id}/${id}/${file.id}`,
    name: file.filename,
    mediaType: file.content_type ?? "application/octet-stream",
    bytes: file.size ?? null,
  }));
}

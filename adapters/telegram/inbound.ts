import type { InboundEvent } from "#channel/contract.ts";
import { threadOf } from "./thread.ts";
import type { TelegramFile, TelegramMessage, TelegramUpdate } from "./updates.ts";

/** What becomes of an update. `reason` is for the log. */
export type Reading =
  | { readonly kind: "event"; readonly event: InboundEvent; readonly message?: TelegramMessage }
  /** The customer has pressed Start. */
  | { readonly kind: "start"; readonly chatId: number }
  | { readonly kind: "ignored"; readonly reason: string };

const ignored = (reason: string): Reading => ({ kind: "ignored", reason });

/** Reads an update. Pure. */
export function readUpdate(update: TelegramUpdate): Reading {
  const { message, edited_message: edited, my_chat_member: member } = update;
  if (message !== undefined) return readMessage(message);
  if (edited !== undefined) return readEdit(edited, update.update_id);
  if (member !== undefined) return readMembership(member, update.update_id);
  return ignored("its kind is not one that was asked for");
}

function readMessage(message: TelegramMessage): Reading {
  const { chat, migrate_to_chat_id: movedTo } = message;
  if (movedTo !== undefined) {
    return {
      kind: "event",
      event: {
        kind: "moved",
        externalId: `moved:${chat.id}:${movedTo}`,
        thread: String(chat.id),
        toThread: String(movedTo),
        sender: { key: String(message.from?.id ?? chat.id) },
        sentAt: message.date * 1_000,
      },
    };
  }
  const nobody = notACustomer(message);
  if (nobody !== undefined) return ignored(nobody);
  if (chat.type === "private" && /^\/start(?: |$)/.test(message.text ?? "")) return { kind: "start", chatId: chat.id };
  const text = textOf(message);
  if (text === "") return ignored("it is a service message, or has nothing to read");
  const files = filesOf(message);
  return {
    kind: "event",
    message,
    event: {
      kind: "message",
      externalId: `message:${chat.id}:${message.message_id}`,
      messageExternalId: messageIdOf(message),
      thread: threadIdOf(message),
      sender: senderOf(message),
      sentAt: message.date * 1_000,
      text,
      metadata: {
        ...(chat.title === undefined ? {} : { chat: chat.title }),
        ...(message.from?.username === undefined ? {} : { username: `@${message.from.username}` }),
        ...(message.from?.language_code === undefined ? {} : { language: message.from.language_code }),
        ...(message.media_group_id === undefined ? {} : { album: message.media_group_id }),
        ...(files.length === 0 ? {} : { attachments: files.map(describeFile) }),
      },
    },
  };
}

function readEdit(message: TelegramMessage, updateId: number): Reading {
  const nobody = notACustomer(message);
  if (nobody !== undefined) return ignored(nobody);
  const text = textOf(message);
  if (text === "") return ignored("it is a service message, or has nothing to read");
  return {
    kind: "event",
    event: {
      kind: "edit",
      // Also sent for changes that nobody sees, such as a reaction: the text is then the same, and nothing happens.
      externalId: `edit:${message.chat.id}:${message.message_id}:${message.edit_date ?? 0}:${updateId}`,
      messageExternalId: messageIdOf(message),
      thread: threadIdOf(message),
      sender: senderOf(message),
      sentAt: (message.edit_date ?? message.date) * 1_000,
      text,
    },
  };
}

function readMembership(
  { chat, from, date, new_chat_member: { status } }: NonNullable<TelegramUpdate["my_chat_member"]>,
  updateId: number,
): Reading {
  const reachable = status !== "kicked" && status !== "left";
  const inPrivate = chat.type === "private";
  const reason = reachable
    ? `The bot can write ${inPrivate ? "to this customer" : "in this group"} again.`
    : `The bot was ${inPrivate ? "blocked by the customer" : "removed from this group"}: what you write here does not arrive.`;
  return {
    kind: "event",
    event: {
      kind: "reach",
      externalId: `member:${updateId}`,
      thread: String(chat.id),
      sender: { key: String(from.id) },
      sentAt: date * 1_000,
      reachable,
      reason,
    },
  };
}

/** Why nobody who could be answered has written this; undefined for a customer. */
function notACustomer({ from, sender_chat, via_bot, is_automatic_forward }: TelegramMessage): string | undefined {
  if (from === undefined) return "it is a channel's own post";
  if (from.is_bot === true) return "a bot has written it";
  if (sender_chat !== undefined) return "it was written in the name of a chat";
  if (via_bot !== undefined) return "it was written by way of a bot";
  return is_automatic_forward === true ? "it was forwarded automatically" : undefined;
}

const messageIdOf = ({ chat, message_id }: TelegramMessage): string => `${chat.id}:${message_id}`;

/** Replies in ordinary groups have a thread id too, which names no topic. */
function threadIdOf({ chat, is_topic_message, message_thread_id: topicId }: TelegramMessage): string {
  return threadOf({ chatId: chat.id, topicId: is_topic_message === true ? topicId : undefined });
}

function senderOf({ from, chat }: TelegramMessage) {
  const name = [from?.first_name, from?.last_name].filter((part) => part !== undefined && part !== "").join(" ");
  return { key: String(from?.id ?? chat.id), ...(name === "" ? {} : { name: name.slice(0, 190) }) };
}

/** What the customer wrote, and a line for each thing that is not text. */
function textOf(message: TelegramMessage): string {
  const written = message.text ?? message.caption ?? "";
  const things = [...filesOf(message).map(fileLine), ...otherLines(message)];
  return [written, things.join("\n")].filter((part) => part !== "").join("\n\n");
}

interface NamedFile {
  readonly what: string;
  readonly file: TelegramFile;
}

function filesOf(message: TelegramMessage): readonly NamedFile[] {
  const { photo, animation, audio, document, sticker, video, video_note, voice } = message;
  // Of a picture's sizes the last is the largest. An animation comes as a document as well.
  const largest = photo?.at(-1);
  const all: readonly (readonly [string, TelegramFile | undefined])[] = [
    ["photo", largest],
    ["animation", animation],
    ["audio", audio],
    ["file", animation === undefined ? document : undefined],
    ["sticker", sticker],
    ["video", video],
    ["video message", video_note],
    ["voice message", voice],
  ];
  return all.flatMap(([what, found]) => (found === undefined ? [] : [{ what, file: found }]));
}

function fileLine({ what, file }: NamedFile): string {
  const details = [
    file.file_name ?? file.emoji,
    file.duration === undefined ? undefined : `${Math.round(file.duration)} s`,
  ].filter((detail) => detail !== undefined);
  return `[${what}${details.length === 0 ? "" : `: ${details.join(", ")}`}]`;
}

function describeFile({ what, file }: NamedFile) {
  return {
    kind: what,
    id: file.file_id,
    ...(file.file_name === undefined ? {} : { name: file.file_name }),
    ...(file.mime_type === undefined ? {} : { media_type: file.mime_type }),
    ...(file.file_size === undefined ? {} : { bytes: file.file_size }),
  };
}

function otherLines({ contact, location, venue, poll, dice }: TelegramMessage): readonly string[] {
  const lines: string[] = [];
  if (contact !== undefined) {
    const name = [contact.first_name, contact.last_name].filter((part) => part !== undefined).join(" ");
    lines.push(`[contact: ${name === "" ? "" : `${name}, `}${contact.phone_number}]`);
  }
  if (venue !== undefined) lines.push(`[place: ${venue.title}, ${venue.address}]`);
  else if (location !== undefined) lines.push(`[location: ${location.latitude}, ${location.longitude}]`);
  if (poll !== undefined) lines.push(`[poll: ${poll.question}]`);
  if (dice !== undefined) lines.push(`[${dice.emoji} ${dice.value}]`);
  return lines;
}

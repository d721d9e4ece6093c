import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import { richTextOf } from "./rich-text.ts";
import type { TelegramThread } from "./thread.ts";
import { movedId, threadOf } from "./thread.ts";
import type { TelegramFile, TelegramMessage, TelegramUpdate } from "./payloads.ts";
import { ignoredKinds } from "./payloads.ts";

/** What becomes of an update. `reason` is for the log. */
export type Reading =
  | {
      readonly kind: "event";
      readonly event: InboundEvent;
      readonly message?: TelegramMessage;
    }
  /** The customer has pressed Start. */
  | ({ readonly kind: "start" } & TelegramThread)
  | { readonly kind: "ignored"; readonly reason: string };

const ignored = (reason: string): Reading => ({ kind: "ignored", reason });

/** Reads an update. Pure. */
export function readUpdate(update: TelegramUpdate): Reading {
  const { message, edited_message: edited, my_chat_member: member } = update;
  if (message !== undefined) return readMessage(message);
  if (edited !== undefined) return readEdit(edited, update.update_id);
  if (member !== undefined) return readMembership(member, update.update_id);
  const kind = Object.keys(update).find((key): key is keyof typeof ignoredKinds => key in ignoredKinds);
  return ignored(kind === undefined ? "its kind is not known" : ignoredKinds[kind]);
}

export function readMessage(message: TelegramMessage): Reading {
  const { chat, migrate_to_chat_id: movedTo, migrate_from_chat_id: movedFrom } = message;
  // Both groups tell it, and either can be the first.
  if (movedTo !== undefined) return readMove(message, chat.id, movedTo);
  if (movedFrom !== undefined) return readMove(message, movedFrom, chat.id);
  const nobody = notACustomer(message);
  if (nobody !== undefined) return ignored(nobody);
  if (chat.type === "private" && /^\/start(?:@\w+)?(?:\s|$)/i.test(message.text ?? ""))
    return { kind: "start", ...placeOf(message) };
  const text = textOf(message);
  const files = filesOf(message);
  if (text === "" && files.length === 0) return ignored("it is a service message, or has nothing to read");
  const { media_group_id: album } = message;
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
      },
      ...(files.length === 0 ? {} : { files: files.map(inboundFile) }),
      ...(album === undefined ? {} : { group: { key: album } }),
    },
  };
}

function readMove({ from, date }: TelegramMessage, oldId: number, newId: number): Reading {
  return {
    kind: "event",
    event: {
      kind: "moved",
      externalId: movedId(oldId, newId),
      thread: String(oldId),
      toThread: String(newId),
      sender: { key: String(from?.id ?? oldId) },
      sentAt: date * 1_000,
    },
  };
}

function readEdit(message: TelegramMessage, updateId: number): Reading {
  const nobody = notACustomer(message);
  if (nobody !== undefined) return ignored(nobody);
  const text = textOf(message);
  const files = filesOf(message);
  // A picture may have lost its words.
  if (text === "" && files.length === 0) {
    return ignored("it is a service message, or has nothing to read");
  }
  return {
    kind: "event",
    message,
    event: {
      kind: "edit",
      // Also sent for changes that nobody sees, such as a reaction: the text is then the same, and nothing happens.
      externalId: `edit:${message.chat.id}:${message.message_id}:${message.edit_date ?? 0}:${updateId}`,
      messageExternalId: messageIdOf(message),
      thread: threadIdOf(message),
      sender: senderOf(message),
      sentAt: (message.edit_date ?? message.date) * 1_000,
      text,
      // Another picture can be put in its place, and one be put to words.
      ...(files.length === 0 ? {} : { files: files.map(inboundFile) }),
    },
  };
}

function readMembership(
  { chat, from, date, new_chat_member: member }: NonNullable<TelegramUpdate["my_chat_member"]>,
  updateId: number,
): Reading {
  const isThere = member.status !== "kicked" && member.status !== "left" && member.is_member !== false;
  const reachable = isThere && member.can_send_messages !== false;
  const inPrivate = chat.type === "private";
  const what = isThere
    ? "may not write in this group"
    : inPrivate
      ? "was blocked by the customer"
      : "was removed from this group";
  const reason = reachable
    ? `The bot can write ${inPrivate ? "to this customer" : "in this group"} again.`
    : `The bot ${what}: what you write here does not arrive.`;
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
function notACustomer({ chat, from, sender_chat, via_bot, is_automatic_forward }: TelegramMessage): string | undefined {
  if (from === undefined) return "it is a channel's own post";
  if (chat.is_direct_messages === true) return "direct messages to a channel are not answered";
  if (from.is_bot === true) return "a bot has written it";
  if (sender_chat !== undefined) return "it was written in the name of a chat";
  if (via_bot !== undefined) return "it was written by way of a bot";
  return is_automatic_forward === true ? "it was forwarded automatically" : undefined;
}

const messageIdOf = ({ chat, message_id }: TelegramMessage): string => `${chat.id}:${message_id}`;

/** Replies in ordinary groups have a thread id too, which names no topic. */
function placeOf({ chat, is_topic_message, message_thread_id: topicId }: TelegramMessage): TelegramThread {
  return { chatId: chat.id, topicId: is_topic_message === true ? topicId : undefined };
}

const threadIdOf = (message: TelegramMessage): string => threadOf(placeOf(message));

function senderOf({ from, chat }: TelegramMessage) {
  const name = [from?.first_name, from?.last_name].filter((part) => part !== undefined && part !== "").join(" ");
  return { key: String(from?.id ?? chat.id), ...(name === "" ? {} : { name: name.slice(0, 190) }) };
}

/** What the customer wrote, and a line for each thing that is neither text nor a file. */
function textOf(message: TelegramMessage): string {
  const rich = message.rich_message === undefined ? undefined : richTextOf(message.rich_message.blocks);
  const written = message.text ?? message.caption ?? rich ?? "";
  return [written, otherLines(message).join("\n")].filter((part) => part !== "").join("\n\n");
}

interface NamedFile {
  readonly what: string;
  /** What it is called and is where Telegram does not say. */
  readonly ending: string;
  readonly mediaType: string;
  readonly file: TelegramFile;
}

function filesOf(message: TelegramMessage): readonly NamedFile[] {
  const { photo, animation, audio, document, video, video_note, voice } = message;
  // Of a picture's sizes the last is the largest. An animation comes as a document as well.
  const all: readonly (readonly [string, string, string, TelegramFile | undefined])[] = [
    ["photo", "jpg", "image/jpeg", photo?.at(-1)],
    ["animation", "mp4", "video/mp4", animation],
    ["audio", "mp3", "audio/mpeg", audio],
    ["file", "bin", "application/octet-stream", animation === undefined ? document : undefined],
    ["video", "mp4", "video/mp4", video],
    ["video message", "mp4", "video/mp4", video_note],
    ["voice message", "ogg", "audio/ogg", voice],
  ];
  return all.flatMap(([what, ending, mediaType, found]) =>
    found === undefined ? [] : [{ what, ending, mediaType, file: found }],
  );
}

function inboundFile({ what, ending, mediaType, file }: NamedFile): InboundFile {
  const length = file.duration === undefined ? "" : ` (${Math.round(file.duration)} s)`;
  return {
    ref: file.file_id,
    ...(file.file_unique_id === undefined ? {} : { key: file.file_unique_id }),
    name: file.file_name ?? `${what}${length}.${ending}`,
    mediaType: file.mime_type ?? mediaType,
    bytes: file.file_size ?? null,
  };
}

function otherLines(message: TelegramMessage): readonly string[] {
  const { sticker, contact, location, venue, poll, dice, checklist, game, invoice } = message;
  const lines: string[] = [];
  // What a sticker says is its sign; the picture adds nothing that could be answered.
  if (sticker !== undefined) lines.push(`[sticker${sticker.emoji === undefined ? "" : `: ${sticker.emoji}`}]`);
  if (contact !== undefined) {
    const name = [contact.first_name, contact.last_name].filter((part) => part !== undefined).join(" ");
    lines.push(`[contact: ${name === "" ? "" : `${name}, `}${contact.phone_number}]`);
  }
  if (venue !== undefined) lines.push(`[place: ${venue.title}, ${venue.address}]`);
  else if (location !== undefined) lines.push(`[location: ${location.latitude}, ${location.longitude}]`);
  if (poll !== undefined) lines.push(`[poll: ${poll.question}]`);
  if (dice !== undefined) lines.push(`[${dice.emoji} ${dice.value}]`);
  if (checklist !== undefined) {
    lines.push(`[checklist: ${[checklist.title, ...checklist.tasks.map(({ text }) => `- ${text}`)].join("\n")}]`);
  }
  if (game !== undefined) lines.push(`[game: ${game.title}]`);
  if (invoice !== undefined) lines.push(`[invoice: ${invoice.title}]`);
  // Of these Telegram gives a bot nothing that could be shown.
  if (message.story !== undefined) lines.push("[story]");
  if (message.paid_media !== undefined) lines.push("[paid media]");
  if (message.giveaway !== undefined) lines.push("[giveaway]");
  return lines;
}

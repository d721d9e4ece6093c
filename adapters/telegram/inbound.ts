import type { Forwarded, InboundEvent, InboundFile, Reference, Sender } from "#channels/contract.ts";
import type { Opinion } from "#channels/opinion-buttons.ts";
import { readOpinion } from "#channels/opinion-buttons.ts";
import { richTextOf } from "./rich-text.ts";
import type { TelegramThread } from "./thread.ts";
import { messageIdOf, movedId, threadOf } from "./thread.ts";
import type {
  TelegramConnection,
  TelegramFile,
  TelegramMessage,
  TelegramPress,
  TelegramReaction,
  TelegramUpdate,
} from "./payloads.ts";
import { ignoredKinds } from "./payloads.ts";

/** The meaning of an update. `reason` is for the log. */
export type Reading =
  | {
      readonly kind: "event";
      readonly event: InboundEvent;
      readonly message?: TelegramMessage;
    }
  /** `message`: the message with the button. */
  | {
      readonly kind: "press";
      readonly id: string;
      readonly opinion: Opinion;
      readonly message: NonNullable<TelegramPress["message"]>;
      readonly thread: string;
      readonly sender: Sender;
    }
  /** The customer pressed Start. `event`: by a link with a payload. */
  | ({ readonly kind: "start"; readonly event?: InboundEvent } & TelegramThread)
  | { readonly kind: "connection"; readonly connection: TelegramConnection }
  | { readonly kind: "ignored"; readonly reason: string };

/** A business account that has connected the bot. */
export interface BusinessOwner {
  readonly id: number;
  readonly name: string;
}

const ignored = (reason: string): Reading => ({ kind: "ignored", reason });

/** The business connection that an update came by; undefined for the bot's own chats. */
export const connectionOf = (update: TelegramUpdate): string | undefined =>
  (update.business_message ?? update.edited_business_message ?? update.callback_query?.message)?.business_connection_id;

/** Reads an update. `botId`: the bot itself. `owner`: of the connection that it came by. Pure. */
export function readUpdate(update: TelegramUpdate, botId: number, owner?: BusinessOwner): Reading {
  const {
    message,
    edited_message: edited,
    my_chat_member: member,
    callback_query: press,
    message_reaction: reaction,
    business_connection: connection,
    business_message: businessMessage,
    edited_business_message: editedBusiness,
  } = update;
  if (connection !== undefined) return { kind: "connection", connection };
  if ((connectionOf(update) ?? businessMessage ?? editedBusiness) !== undefined && owner === undefined) {
    return ignored("its business connection is not known, or not permitted");
  }
  if (businessMessage !== undefined) return readMessage(businessMessage, botId, owner);
  if (editedBusiness !== undefined) return readEdit(editedBusiness, update.update_id, botId, owner);
  if (message !== undefined) return readMessage(message, botId);
  if (edited !== undefined) return readEdit(edited, update.update_id, botId);
  if (member !== undefined) return readMembership(member, update.update_id);
  if (press !== undefined) return readPress(press, owner);
  if (reaction !== undefined) return readReaction(reaction, update.update_id);
  const kind = Object.keys(update).find((key): key is keyof typeof ignoredKinds => key in ignoredKinds);
  return ignored(kind === undefined ? "its kind is not known" : ignoredKinds[kind]);
}

const startCommand = /^\/start(?:@\w+)?(?:\s+(?<payload>.*)|$)/is;
/** Telegram permits this in a link: https://core.telegram.org/bots/features#deep-linking. */
const startPayload = /^[\w-]{1,64}$/;

export function readMessage(message: TelegramMessage, botId: number, owner?: BusinessOwner): Reading {
  const { chat, migrate_to_chat_id: movedTo, migrate_from_chat_id: movedFrom } = message;
  // Both groups report the move, in any order.
  if (movedTo !== undefined) return readMove(message, chat.id, movedTo);
  if (movedFrom !== undefined) return readMove(message, movedFrom, chat.id);
  const nobody = notACustomer(message, botId);
  if (nobody !== undefined) return ignored(nobody);
  const forwarded = forwardedIn(message);
  // In a person's chat it is no command.
  if (
    chat.type === "private" &&
    owner === undefined &&
    forwarded === undefined &&
    startCommand.test(message.text ?? "")
  ) {
    return readStart(message);
  }
  const text = textOf(message);
  const files = filesOf(message);
  if (text === "" && files.length === 0) return ignored("it is a service message, or has nothing to read");
  const { media_group_id: album } = message;
  const id = idOf(message, owner);
  if (owner !== undefined && message.from?.id === owner.id) {
    // The account's own greeting must not take the conversation. Of customers, these are scheduled messages.
    if (message.is_from_offline === true) return ignored("the account has sent it by itself");
    return { kind: "event", event: ownersMessage(message, owner, text, files) };
  }
  return {
    kind: "event",
    message,
    event: {
      kind: "message",
      externalId: eventIdOf(id),
      messageExternalId: id,
      thread: threadIdOf(message, owner),
      sender: senderOf(message),
      sentAt: message.date * 1_000,
      text,
      metadata: {
        ...(chat.title === undefined ? {} : { chat: chat.title }),
        ...(owner === undefined ? {} : { business_account: owner.name }),
        ...(message.from?.username === undefined ? {} : { username: `@${message.from.username}` }),
        ...(message.via_bot === undefined ? {} : { via_bot: `@${message.via_bot.username ?? message.via_bot.id}` }),
        ...(message.from?.language_code === undefined ? {} : { language: message.from.language_code }),
      },
      ...referenceOf(message, owner),
      ...(forwarded === undefined ? {} : { forwarded }),
      ...(files.length === 0 ? {} : { files: files.map(inboundFile) }),
      ...(album === undefined ? {} : { group: { key: album } }),
    },
  };
}

/** The owner's own words, typed in Telegram: an agent's message that the customer has. */
function ownersMessage(
  message: TelegramMessage,
  owner: BusinessOwner,
  text: string,
  files: readonly NamedFile[],
): InboundEvent {
  const id = idOf(message, owner);
  return {
    kind: "agent",
    externalId: eventIdOf(id),
    messageExternalId: id,
    thread: threadIdOf(message, owner),
    sentAt: message.date * 1_000,
    // Telegram gives bots no e-mail address.
    author: { email: `owner-${owner.id}@telegram.invalid`, name: owner.name },
    text,
    ...(files.length === 0 ? {} : { files: files.map(inboundFile) }),
  };
}

/** In a topic, Telegram calls the message that began it the answered one, unless there is another. */
function referenceOf(
  { chat, reply_to_message: answered, quote, message_thread_id: topic }: TelegramMessage,
  owner: BusinessOwner | undefined,
): { readonly refersTo?: Reference } {
  if (answered === undefined || answered.message_id === topic) return {};
  const text = quote?.text ?? answered.text ?? answered.caption;
  return {
    refersTo: {
      externalIds: [idOf({ chat, message_id: answered.message_id }, owner)],
      ...(text === undefined ? {} : { text }),
      ...(quote === undefined ? {} : { isQuote: true }),
    },
  };
}

/** Undefined also where the customers forward a message of their own. */
function forwardedIn({ from, forward_origin: origin }: TelegramMessage): Forwarded | undefined {
  if (origin === undefined || (origin.sender_user !== undefined && origin.sender_user.id === from?.id))
    return undefined;
  const { sender_user: person, sender_user_name: hidden, sender_chat: group, chat: channel } = origin;
  const name = person === undefined ? (hidden ?? group?.title ?? channel?.title ?? "") : nameOf(person);
  return name === "" ? {} : { from: name };
}

function readStart(message: TelegramMessage): Reading {
  const payload = startCommand.exec(message.text ?? "")?.groups?.["payload"]?.trim() ?? "";
  // Customers can type anything behind the command.
  if (!startPayload.test(payload)) return { kind: "start", ...placeOf(message) };
  const event: InboundEvent = {
    kind: "contact",
    externalId: `start:${idOf(message)}`,
    thread: threadIdOf(message),
    sender: senderOf(message),
    sentAt: message.date * 1_000,
    contact: {},
    start: payload,
  };
  return { kind: "start", ...placeOf(message), event };
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

function readEdit(message: TelegramMessage, updateId: number, botId: number, owner?: BusinessOwner): Reading {
  const nobody = notACustomer(message, botId);
  if (nobody !== undefined) return ignored(nobody);
  if (owner !== undefined && message.from?.id === owner.id) return ignored("the account's owner has edited a message");
  const id = idOf(message, owner);
  const text = textOf(message);
  const files = filesOf(message);
  // An edit may remove a picture's caption.
  if (text === "" && files.length === 0) {
    return ignored("it is a service message, or has nothing to read");
  }
  return {
    kind: "event",
    message,
    event: {
      kind: "edit",
      // Also sent for invisible changes such as a reaction. The text is then equal, and the edit has no effect.
      externalId: `edit:${id}:${message.edit_date ?? 0}:${updateId}`,
      messageExternalId: id,
      thread: threadIdOf(message, owner),
      sender: senderOf(message),
      sentAt: (message.edit_date ?? message.date) * 1_000,
      text,
      // An edit can replace the picture, or add one to a text.
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

function readPress({ id, from, message, data = "" }: TelegramPress, owner: BusinessOwner | undefined): Reading {
  const opinion = readOpinion(data);
  if (opinion === undefined || message === undefined) return ignored("it is no button of this bot's messages");
  const sender = senderOf({ from, chat: message.chat });
  return { kind: "press", id, opinion, message, thread: threadIdOf(message, owner), sender };
}

function readReaction({ chat, message_id, user, date, ...change }: TelegramReaction, updateId: number): Reading {
  if (user === undefined || user.is_bot === true) return ignored("no person has reacted");
  // Custom emoji of Telegram have neither a character nor a name.
  const signs = (all: TelegramReaction["new_reaction"]) => all.flatMap(({ emoji }) => emoji ?? []);
  const [before, after] = [signs(change.old_reaction), signs(change.new_reaction)];
  return {
    kind: "event",
    event: {
      kind: "reaction",
      externalId: `reaction:${updateId}`,
      thread: String(chat.id),
      sender: senderOf({ from: user, chat }),
      sentAt: date * 1_000,
      of: { externalIds: [idOf({ chat, message_id })] },
      added: after.filter((emoji) => !before.includes(emoji)),
      removed: before.filter((emoji) => !after.includes(emoji)),
    },
  };
}

/** The user that writes sign-in codes and news to each person. */
const telegramItself = 777_000;

/** The reason why a message has no customer as its author; undefined for a customer's message. */
function notACustomer(
  { chat, from, sender_chat, via_bot, is_automatic_forward, sender_business_bot }: TelegramMessage,
  botId: number,
): string | undefined {
  if (sender_business_bot !== undefined) return "a bot has written it for a business account";
  if (from === undefined) return "it is a channel's own post";
  if (chat.is_direct_messages === true) return "direct messages to a channel are not answered";
  if (from.is_bot === true) return "a bot has written it";
  if (sender_chat !== undefined) return "it was written in the name of a chat";
  if (via_bot?.id === botId) return "it was written by way of this bot";
  if (is_automatic_forward === true) return "it was forwarded automatically";
  return from.id === telegramItself ? "Telegram itself has written it" : undefined;
}

const idOf = ({ chat, message_id }: Pick<TelegramMessage, "chat" | "message_id">, owner?: BusinessOwner): string =>
  messageIdOf({ chatId: chat.id, messageId: message_id, ownerId: owner?.id });

export const eventIdOf = (messageId: string): string => `message:${messageId}`;

type Located = Pick<TelegramMessage, "chat" | "is_topic_message" | "message_thread_id">;

/** In groups without topics, replies have a thread id too, which is no topic. */
function placeOf({ chat, is_topic_message, message_thread_id: topicId }: Located): TelegramThread {
  return { chatId: chat.id, topicId: is_topic_message === true ? topicId : undefined };
}

const threadIdOf = (message: Located, owner?: BusinessOwner): string =>
  threadOf({ ...placeOf(message), ownerId: owner?.id });

function senderOf({ from, chat }: Pick<TelegramMessage, "from" | "chat">) {
  const name = from === undefined ? "" : nameOf(from);
  return { key: String(from?.id ?? chat.id), ...(name === "" ? {} : { name: name.slice(0, 190) }) };
}

export const nameOf = ({ first_name, last_name }: NonNullable<TelegramMessage["from"]>): string =>
  [first_name, last_name].filter((part) => part !== undefined && part !== "").join(" ");

/** The customer's text, and a line for each attachment that is not a file. */
function textOf(message: TelegramMessage): string {
  const rich = message.rich_message === undefined ? undefined : richTextOf(message.rich_message.blocks);
  const written = message.text ?? message.caption ?? rich ?? "";
  return [written, otherLines(message).join("\n")].filter((part) => part !== "").join("\n\n");
}

interface NamedFile {
  readonly what: string;
  /** The name and type of files for which Telegram gives none. */
  readonly ending: string;
  readonly mediaType: string;
  readonly file: TelegramFile;
}

function filesOf(message: TelegramMessage): readonly NamedFile[] {
  const { photo, animation, audio, document, video, video_note, voice } = message;
  // The last size of a photo is the largest. An animation is also listed as a document.
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
  // A sticker's emoji is its content; the picture adds nothing to reply to.
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
  // Telegram gives bots no content of these.
  if (message.story !== undefined) lines.push("[story]");
  if (message.paid_media !== undefined) lines.push("[paid media]");
  if (message.giveaway !== undefined) lines.push("[giveaway]");
  return lines;
}

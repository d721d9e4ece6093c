/** A chat, a topic of one, or a chat of a connected business account. */
export interface TelegramThread {
  readonly chatId: number;
  readonly topicId?: number | undefined;
  /**
   * The user id of the business account that has the chat. It stays when the account connects the bot again, which changes
   * the connection's id.
   */
  readonly ownerId?: number | undefined;
}

/**
 * Business accounts number their chats and messages themselves: the bot may have another chat with the same id, and other
 * messages with the same numbers.
 */
const businessPrefix = "business:";

export function threadOf({ chatId, topicId, ownerId }: TelegramThread): string {
  if (ownerId !== undefined) return `${businessPrefix}${ownerId}:${chatId}`;
  return topicId === undefined ? String(chatId) : `${chatId}:${topicId}`;
}

export function parseThread(thread: string): TelegramThread {
  if (thread.startsWith(businessPrefix)) {
    const [owner, chat] = thread.slice(businessPrefix.length).split(":");
    return { chatId: Number(chat), ownerId: Number(owner) };
  }
  const [chat, topic] = thread.split(":");
  return { chatId: Number(chat), topicId: topic === undefined ? undefined : Number(topic) };
}

/** A message, as receipts and events name it. */
export interface TelegramMessageId extends Pick<TelegramThread, "chatId" | "ownerId"> {
  readonly messageId: number;
}

export const messageIdOf = ({ chatId, ownerId, messageId }: TelegramMessageId): string =>
  `${threadOf({ chatId, ownerId })}:${messageId}`;

/** Undefined for a text that no receipt or event has given. */
export function parseMessageId(id: string): TelegramMessageId | undefined {
  const [, owner, chat, message] = /^(?:business:(\d+):)?(-?\d+):(\d+)$/.exec(id) ?? [];
  const [chatId, messageId] = [Number(chat), Number(message)];
  if (!Number.isSafeInteger(chatId) || !Number.isSafeInteger(messageId)) return undefined;
  return { chatId, messageId, ownerId: owner === undefined ? undefined : Number(owner) };
}

/** The prefix of a chat's topic threads. */
export const topicsOf = (chat: string): string => `${chat}:`;

/** One id for the move, whether the old group, the new one or a refused message reports it. */
export const movedId = (from: number, to: number): string => `moved:${from}:${to}`;

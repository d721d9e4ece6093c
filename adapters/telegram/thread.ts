/** A chat, or a topic of one. */
export interface TelegramThread {
  readonly chatId: number;
  readonly topicId: number | undefined;
}

export function threadOf({ chatId, topicId }: TelegramThread): string {
  return topicId === undefined ? String(chatId) : `${chatId}:${topicId}`;
}

export function parseThread(thread: string): TelegramThread {
  const [chat, topic] = thread.split(":");
  return { chatId: Number(chat), topicId: topic === undefined ? undefined : Number(topic) };
}

/** The prefix of a chat's topic threads. */
export const topicsOf = (chat: string): string => `${chat}:`;

/** One id for the move, whether the old group, the new one or a refused message reports it. */
export const movedId = (from: number, to: number): string => `moved:${from}:${to}`;

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

/** What the names of a chat's topics begin with. */
export const topicsOf = (chat: string): string => `${chat}:`;

/** The same whichever of the two groups tells it first, or a message that is refused for it. */
export const movedId = (from: number, to: number): string => `moved:${from}:${to}`;

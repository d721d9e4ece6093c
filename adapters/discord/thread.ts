/**
 * A conversation's place: a private channel, or a thread of a server's channel. A thread has the id of the message that
 * starts it, so its id is known before it exists.
 */
export type DiscordThread =
  | { readonly kind: "direct"; readonly channelId: string }
  | { readonly kind: "thread"; readonly parentId: string; readonly threadId: string };

export function threadOf(thread: DiscordThread): string {
  return thread.kind === "direct" ? thread.channelId : `${thread.parentId}:${thread.threadId}`;
}

export function parseThread(text: string): DiscordThread {
  const [first = "", second] = text.split(":");
  return second === undefined
    ? { kind: "direct", channelId: first }
    : { kind: "thread", parentId: first, threadId: second };
}

/** The channel that messages of the thread are in. */
export function channelOf(thread: DiscordThread): string {
  return thread.kind === "direct" ? thread.channelId : thread.threadId;
}

/**
 * Where a conversation is: a private channel, or a thread of a server's channel. A thread that begins at a message has
 * that message's id, so that it is named before it is there.
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

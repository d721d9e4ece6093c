/** Marks messages, so that one with an unknown outcome can be found, and none is taken for a customer's. */
export const metadataType = "parley_delivery";

/** A thread of a channel, or a direct conversation outside of any thread. */
export interface SlackThread {
  readonly channelId: string;
  readonly threadTs: string | undefined;
}

/** The part of a thread's name for a channel outside of threads. */
const root = "root";

export function threadOf({ channelId, threadTs }: SlackThread): string {
  return `${channelId}:${threadTs ?? root}`;
}

export function parseThread(thread: string): SlackThread {
  const [channelId = "", ts = root] = thread.split(":");
  return { channelId, threadTs: ts === root ? undefined : ts };
}

/** A message's id: its channel and its time stamp. */
export const messageIdOf = (channelId: string, ts: string): string => `${channelId}:${ts}`;

export function parseMessageId(id: string): { readonly channelId: string; readonly ts: string } {
  const [channelId = "", ts = ""] = id.split(":");
  return { channelId, ts };
}

/** A thread of a channel, or a direct conversation outside of any thread. */
export interface SlackThread {
  readonly channelId: string;
  readonly threadTs: string | undefined;
}

/** What stands for the place outside of threads. */
const root = "root";

export function threadOf({ channelId, threadTs }: SlackThread): string {
  return `${channelId}:${threadTs ?? root}`;
}

export function parseThread(thread: string): SlackThread {
  const [channelId = "", ts = root] = thread.split(":");
  return { channelId, threadTs: ts === root ? undefined : ts };
}

/** A message by its channel and its time stamp, which is its id there. */
export const messageIdOf = (channelId: string, ts: string): string => `${channelId}:${ts}`;

export function parseMessageId(id: string): { readonly channelId: string; readonly ts: string } {
  const [channelId = "", ts = ""] = id.split(":");
  return { channelId, ts };
}

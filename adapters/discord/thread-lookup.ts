import { Routes } from "discord.js";
import type { ChannelHost } from "#channels/contract.ts";
import type { Calls } from "./client.ts";
import { isOutOfReach } from "./errors.ts";
import { mentions } from "./inbound.ts";
import type { DiscordMessage } from "./payloads.ts";
import { threadOf } from "./thread.ts";

/** Finds the conversation's thread for a message. */
export interface ThreadLookup {
  /** The thread of a new message; null for a message that does not address the bot. */
  forMessage(message: DiscordMessage): Promise<string | null>;
  /**
   * The thread, if it has a conversation. It is the channel itself where the channel is a thread, else the thread that
   * starts at `messageId`.
   */
  existing(channelId: string, guildId: string | undefined, messageId?: string): Promise<string | null>;
}

const parentsMax = 10_000;
/** Thread types of Discord: announcement, public, private. */
const threadTypes: ReadonlySet<unknown> = new Set([10, 11, 12]);

export function createThreadLookup(
  host: Pick<ChannelHost, "threads">,
  calls: Calls,
  { guilds, botId }: { readonly guilds: "off" | "threads"; readonly botId: string },
  signal: AbortSignal,
): ThreadLookup {
  /** A channel's parent never changes. */
  const parents = new Map<string, string | null>();

  /** The channel that a thread belongs to; null for a channel that is not a thread. */
  async function parentOf(channelId: string): Promise<string | null> {
    const cached = parents.get(channelId);
    if (cached !== undefined) return cached;
    let parent: string | null;
    try {
      parent = threadParent(await calls.get(Routes.channel(channelId), signal));
    } catch (error) {
      // The channel was deleted or the bot was removed. A retry would block the channel's queue for ever.
      if (isOutOfReach(error)) return null;
      throw error;
    }
    if (parents.size >= parentsMax) parents.clear();
    parents.set(channelId, parent);
    return parent;
  }

  async function existing(channelId: string, guildId: string | undefined, messageId?: string): Promise<string | null> {
    if (guildId === undefined) return threadOf({ kind: "direct", channelId });
    if (guilds === "off") return null;
    const parentId = await parentOf(channelId);
    if (parentId === null && messageId === undefined) return null;
    const thread = threadOf(
      parentId === null
        ? { kind: "thread", parentId: channelId, threadId: messageId ?? "" }
        : { kind: "thread", parentId, threadId: channelId },
    );
    return (await host.threads.get(thread)) === null ? null : thread;
  }

  return {
    existing,
    async forMessage(message) {
      const { channel_id: channelId, guild_id: guildId } = message;
      if (guildId === undefined) return threadOf({ kind: "direct", channelId });
      if (guilds === "off") return null;
      const thread = await existing(channelId, guildId);
      if (thread !== null) return thread;
      if (!mentions(message, botId)) return null;
      const parentId = await parentOf(channelId);
      return parentId === null
        ? threadOf({ kind: "thread", parentId: channelId, threadId: message.id })
        : threadOf({ kind: "thread", parentId, threadId: channelId });
    },
  };
}

function threadParent(channel: unknown): string | null {
  if (typeof channel !== "object" || channel === null) return null;
  const { type, parent_id: parent } = channel as { readonly type?: unknown; readonly parent_id?: unknown };
  return threadTypes.has(type) && typeof parent === "string" ? parent : null;
}

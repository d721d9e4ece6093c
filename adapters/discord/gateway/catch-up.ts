import { Routes } from "discord.js";
import type { ChannelHost } from "#channels/contract.ts";
import type { ChannelQueue } from "./channel-queue.ts";
import type { Calls } from "../client.ts";
import { isOutOfReach } from "../errors.ts";
import type { Events } from "../events.ts";
import { messageIdOf } from "../events.ts";
import { channelOf, parseThread } from "../thread.ts";

/** After a gap, only threads with a message within this time are read. */
const recentMs = 14 * 86_400_000;
const pageMax = 100;

/** Queues a read of the history of each recent thread, from the newest stored message. */
export async function queueCatchUp(
  host: Pick<ChannelHost, "threads" | "clock">,
  calls: Calls,
  queue: ChannelQueue,
  events: Events,
  signal: AbortSignal,
): Promise<void> {
  for (const { thread, newestExternalId } of await host.threads.recent(host.clock.now() - recentMs)) {
    const after = messageIdOf(newestExternalId);
    if (after === undefined) continue;
    const channelId = channelOf(parseThread(thread));
    queue.add(channelId, async () => {
      for await (const page of historyAfter(calls, channelId, after, signal)) await events.catchUp(thread, page);
    });
  }
}

async function* historyAfter(
  calls: Calls,
  channelId: string,
  first: string,
  signal: AbortSignal,
): AsyncGenerator<readonly unknown[]> {
  let after = first;
  for (;;) {
    const query = new URLSearchParams({ after, limit: String(pageMax) });
    const page = await historyPage(calls, channelId, query, signal);
    yield page;
    const newest = page.map(idOf).reduce((a, b) => (b > a ? b : a), BigInt(after));
    if (page.length < pageMax || newest === BigInt(after)) return;
    after = String(newest);
  }
}

async function historyPage(
  calls: Calls,
  channelId: string,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  try {
    const page = await calls.get(Routes.channelMessages(channelId), signal, query);
    return Array.isArray(page) ? (page as readonly unknown[]) : [];
  } catch (error) {
    // A deleted thread has no more messages.
    if (isOutOfReach(error)) return [];
    throw error;
  }
}

function idOf(message: unknown): bigint {
  const id = typeof message === "object" && message !== null ? (message as { readonly id?: unknown }).id : undefined;
  return typeof id === "string" && /^[0-9]{1,20}$/.test(id) ? BigInt(id) : 0n;
}

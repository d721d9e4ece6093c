import type { RESTOptions, ResponseLike } from "discord.js";
import { Client, Events, GatewayIntentBits, Routes } from "discord.js";
import type { ChannelHost } from "#channel/contract.ts";
import { codeOf, describe, noAccess, unknownChannel } from "./failures.ts";
import type { Intake, Packet } from "./intake.ts";
import { createIntake, messageIdOf } from "./intake.ts";
import type { Calls } from "./rest.ts";
import { channelOf, parseThread } from "./thread.ts";

export interface GatewayDependencies {
  readonly host: ChannelHost;
  readonly calls: Calls;
  readonly token: string;
  readonly guilds: "off" | "threads";
  readonly baseUrl: string | undefined;
  readonly gatewayUrl: string | undefined;
}

/** Threads in which nobody has written for so long are not looked through after a gap. */
const recentMs = 14 * 86_400_000;
const pageMax = 100;

/**
 * Holds the connection to Discord's gateway until `signal` aborts. What a dropped connection has missed is sent again by
 * Discord when it is resumed; where it is begun anew, after a restart too, the threads' history is read. Rejects when
 * Discord does not let us in: the host begins anew after a while.
 */
export async function runGateway(dependencies: GatewayDependencies, signal: AbortSignal): Promise<void> {
  const { host, calls, token, guilds, baseUrl } = dependencies;
  const client = new Client({
    intents: [
      GatewayIntentBits.DirectMessages,
      ...(guilds === "off"
        ? []
        : [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent]),
    ],
    rest: {
      ...(baseUrl === undefined ? {} : { api: baseUrl }),
      ...(dependencies.gatewayUrl === undefined ? {} : { makeRequest: toGateway(dependencies.gatewayUrl) }),
    },
  });
  const ended = Promise.withResolvers<void>();
  const turns = createTurns();
  let intake: Intake | undefined;

  /** A gateway has no acknowledgement: what cannot be stored now is stored later, and what comes after it waits. */
  async function untilStored(work: () => Promise<void>): Promise<void> {
    let told = false;
    while (!signal.aborted) {
      try {
        await work();
        return;
      } catch (error) {
        if (!told) host.log.error({ err: error }, "a message of Discord cannot be stored; this goes on trying");
        told = true;
        await turns.pause(host, signal);
      }
    }
  }

  client.on(Events.Raw, (packet: Packet) => {
    const taker = intake;
    if (taker !== undefined) turns.take(channelIdOf(packet), () => untilStored(() => taker.take(packet)));
  });
  client.on(Events.ShardReady, () => {
    const botId = client.user?.id;
    if (botId === undefined) return;
    const taker = createIntake({ host, guilds, botId, parentOf });
    intake = taker;
    catchUp(taker).catch((error: unknown) => ended.reject(error));
  });
  client.on(Events.Error, (error) => host.log.warn({ reason: describe(error) }, "the connection to Discord failed"));
  client.on(Events.ShardError, (error) =>
    host.log.warn({ reason: describe(error) }, "the connection to Discord failed"),
  );
  client.on(Events.ShardDisconnect, ({ code }) => ended.reject(new Error(closing(code))));
  client.on(Events.Invalidated, () => ended.reject(new Error("Discord has ended the session")));

  async function catchUp(taker: Intake): Promise<void> {
    const threads = await host.recentThreads(host.clock.now() - recentMs);
    for (const { thread, newestExternalId } of threads) {
      const after = messageIdOf(newestExternalId);
      if (after === undefined) continue;
      // In the thread's own turn: what comes in by the socket meanwhile is newer.
      turns.take(channelOf(parseThread(thread)), () => untilStored(() => readAfter(taker, thread, after)));
    }
  }

  async function readAfter(taker: Intake, thread: string, first: string): Promise<void> {
    let after = first;
    for (;;) {
      const query = new URLSearchParams({ after, limit: String(pageMax) });
      const page = await historyPage(channelOf(parseThread(thread)), query);
      await taker.catchUp(thread, page);
      const newest = page.map(idOf).reduce((a, b) => (b > a ? b : a), BigInt(after));
      if (page.length < pageMax || newest === BigInt(after)) return;
      after = String(newest);
    }
  }

  async function historyPage(channelId: string, query: URLSearchParams): Promise<readonly unknown[]> {
    try {
      const page = await calls.get(Routes.channelMessages(channelId), signal, query);
      return Array.isArray(page) ? (page as readonly unknown[]) : [];
    } catch (error) {
      const code = codeOf(error);
      // A thread that is gone has nothing more to say.
      if (code !== undefined && (code === unknownChannel || noAccess.has(code))) return [];
      throw error;
    }
  }

  async function parentOf(channelId: string): Promise<string | null> {
    const channel = await client.channels.fetch(channelId);
    return channel !== null && channel.isThread() ? channel.parentId : null;
  }

  const stop = (): void => ended.resolve();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([client.login(token), ended.promise]);
    await ended.promise;
  } catch (error) {
    throw new Error(loginFailure(error), { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
    await client.destroy();
    await turns.settled();
  }
}

/** Discord names its gateway itself; whoever stands between is put in its place. */
function toGateway(url: string): RESTOptions["makeRequest"] {
  // The two kinds of response differ in what nobody here reads of their streams.
  const answer = (response: Response): ResponseLike => response as unknown as ResponseLike;
  return async (address, init) => {
    const response = await fetch(address, init as RequestInit);
    if (!response.ok || !new URL(address).pathname.endsWith("/gateway/bot")) return answer(response);
    const body = { ...((await response.json()) as object), url };
    return answer(Response.json(body));
  };
}

function loginFailure(error: unknown): string {
  const text = describe(error);
  if (/token/i.test(text)) return "Discord does not know the bot's token: check `token`";
  if (/disallowed intents/i.test(text)) {
    return "Discord refuses the connection: switch on Message Content Intent on the page Bot of the developer portal";
  }
  return text;
}

function closing(code: number): string {
  if (code === 4_004) return "Discord does not know the bot's token: check `token`";
  if (code === 4_014) return "disallowed intents";
  return `Discord has closed the connection for good (${code})`;
}

const againMs = 1_000;

/** One after the other for a channel, and side by side for several. */
function createTurns() {
  const last = new Map<string, Promise<void>>();
  const paused = new Set<() => void>();
  return {
    take(channel: string, work: () => Promise<void>): void {
      const turn = (last.get(channel) ?? Promise.resolve()).then(work).finally(() => {
        if (last.get(channel) === turn) last.delete(channel);
      });
      last.set(channel, turn);
      // Where something new comes in, what failed may go well again.
      for (const resume of paused) resume();
    },
    async settled(): Promise<void> {
      while (last.size > 0) await Promise.all(last.values());
    },
    /** Until it is worth to try again. */
    pause(host: Pick<ChannelHost, "clock">, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const stop = host.clock.timer(againMs, end);
        signal.addEventListener("abort", end, { once: true });
        paused.add(end);
        function end(): void {
          stop();
          signal.removeEventListener("abort", end);
          paused.delete(end);
          resolve();
        }
      });
    },
  };
}

function channelIdOf({ d }: Packet): string {
  const id = typeof d === "object" && d !== null ? (d as { readonly channel_id?: unknown }).channel_id : undefined;
  return typeof id === "string" ? id : "";
}

function idOf(message: unknown): bigint {
  const id = typeof message === "object" && message !== null ? (message as { readonly id?: unknown }).id : undefined;
  return typeof id === "string" && /^[0-9]{1,20}$/.test(id) ? BigInt(id) : 0n;
}

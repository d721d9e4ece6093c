import { setTimeout as delay } from "node:timers/promises";
import { CloseCodes, WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import type { SessionInfo } from "@discordjs/ws";
import type { REST } from "discord.js";
import { GatewayIntentBits, InteractionResponseType, Routes } from "discord.js";
import type { ChannelHost } from "#channels/contract.ts";
import { codeOf, deliveryError, describe, noAccess, unknownChannel } from "./errors.ts";
import type { Events, Packet } from "./events.ts";
import { createEvents, messageIdOf } from "./events.ts";
import type { DiscordPress } from "./payloads.ts";
import type { Calls } from "./client.ts";
import { createSessions } from "./sessions.ts";
import { channelOf, parseThread } from "./thread.ts";
import { createChannelQueue } from "./channel-queue.ts";

export interface ConnectionDependencies {
  readonly host: ChannelHost;
  readonly calls: Calls;
  readonly rest: REST;
  readonly token: string;
  readonly guilds: "off" | "threads";
  readonly gatewayUrl: string | undefined;
  readonly personLabel: string | undefined;
}

/** Threads in which nobody has written for so long are not looked through after a gap. */
const recentMs = 14 * 86_400_000;
const pageMax = 100;
const parentsMax = 10_000;
/** Longer than it takes to connect, and shorter than the program waits when it ends. */
const connectingMs = 3_000;

/**
 * Holds the connection to Discord's gateway until `signal` aborts. What a connection has missed Discord sends again when
 * the session is resumed, as far as it was stored here, after a restart too. Where Discord has forgotten the session, the
 * history of the threads is read. Rejects when Discord does not let us in: the host begins anew after a while.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  const { host, calls, token, guilds, rest, gatewayUrl, personLabel } = dependencies;
  const sessions = await createSessions(host);
  // Whoever was stopped in the meantime is not told so any more.
  if (signal.aborted) return;
  const turns = createChannelQueue(host.clock);
  const ended = Promise.withResolvers<void>();
  const parents = new Map<string, string | null>();
  const intakes = new Map<number, Events>();
  let over = false;
  const led = (info: SessionInfo | null): SessionInfo | null =>
    info === null || gatewayUrl === undefined ? info : { ...info, resumeURL: gatewayUrl };

  const manager = new WebSocketManager({
    token,
    intents:
      GatewayIntentBits.DirectMessages |
      (guilds === "off"
        ? 0
        : GatewayIntentBits.Guilds | GatewayIntentBits.GuildMessages | GatewayIntentBits.MessageContent),
    rest,
    // Asked for before every connection: a client that lost the last one just now does not notice that it was ended, and
    // would take the session away from whoever comes after it.
    retrieveSessionInfo: (shardId) => (over ? new Promise<never>(() => undefined) : led(sessions.get(shardId))),
    updateSessionInfo: (shardId, info) => sessions.set(shardId, info),
  });
  if (gatewayUrl !== undefined) {
    const ask = manager.fetchGatewayInformation.bind(manager);
    // Discord names its gateway itself; whoever stands between is put in its place.
    manager.fetchGatewayInformation = async (force) => ({ ...(await ask(force)), url: gatewayUrl });
  }

  /** A gateway has no acknowledgement: what cannot be stored now is stored later, and what comes after it waits. */
  async function untilStored(work: () => Promise<void>): Promise<boolean> {
    let told = false;
    while (!signal.aborted) {
      try {
        await work();
        return true;
      } catch (error) {
        if (!told) host.log.error({ err: error }, "discord: storing a message failed, retrying");
        told = true;
        await turns.pause(signal);
      }
    }
    return false;
  }

  manager.on(WebSocketShardEvents.Dispatch, ({ data, shardId }) => {
    const packet: Packet = data;
    const done = sessions.began(shardId, data.s);
    turns.take(channelIdOf(packet), async () => {
      // What was not stored is not told to be: it comes again when the session is resumed.
      if (await untilStored(async () => (await intakeOf(shardId)).take(packet))) done();
    });
  });
  manager.on(WebSocketShardEvents.Ready, ({ shardId }) => {
    turns.take("", async () => {
      await untilStored(async () => catchUp(await intakeOf(shardId)));
    });
  });
  manager.on(WebSocketShardEvents.Error, ({ error }) =>
    host.log.warn({ reason: describe(error) }, "discord: connection failed"),
  );
  manager.on(WebSocketShardEvents.Closed, ({ code }) => {
    const reason = hopeless[code];
    if (reason !== undefined) ended.reject(new Error(reason));
  });

  let botId: string | undefined;
  async function intakeOf(shardId: number): Promise<Events> {
    const known = intakes.get(shardId);
    if (known !== undefined) return known;
    botId ??= await ownId(calls, signal);
    const made = createEvents({ host, guilds, botId, parentOf, personLabel, answerPress });
    intakes.set(shardId, made);
    return made;
  }

  async function catchUp(taker: Events): Promise<void> {
    for (const { thread, newestExternalId } of await host.recentThreads(host.clock.now() - recentMs)) {
      const after = messageIdOf(newestExternalId);
      if (after === undefined) continue;
      turns.take(channelOf(parseThread(thread)), async () => {
        await untilStored(() => readAfter(taker, thread, after));
      });
    }
  }

  async function readAfter(taker: Events, thread: string, first: string): Promise<void> {
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
      // A thread that is gone has nothing more to say.
      if (isOutOfReach(error)) return [];
      throw error;
    }
  }

  async function answerPress({ id, token: pressToken }: DiscordPress): Promise<void> {
    const body = { type: InteractionResponseType.UpdateMessage, data: { components: [] } };
    try {
      await calls.post(Routes.interactionCallback(id, pressToken), body, signal);
    } catch (error) {
      // What was pressed is stored; that Discord shows otherwise after three seconds is all that is lost.
      host.log.debug({ reason: deliveryError(error).message }, "discord: acknowledging a button failed");
    }
  }

  /** Where a channel hangs does not change. */
  async function parentOf(channelId: string): Promise<string | null> {
    const known = parents.get(channelId);
    if (known !== undefined) return known;
    let parent: string | null;
    try {
      parent = threadParent(await calls.get(Routes.channel(channelId), signal));
    } catch (error) {
      // It was taken away since then, or the bot was shut out: asking again would hold up what comes after it for ever.
      if (isOutOfReach(error)) return null;
      throw error;
    }
    if (parents.size >= parentsMax) parents.clear();
    parents.set(channelId, parent);
    return parent;
  }

  const stop = (): void => ended.resolve();
  signal.addEventListener("abort", stop, { once: true });
  let connecting: Promise<void> | undefined;
  try {
    connecting = manager.connect();
    await Promise.race([connecting, ended.promise]);
    await ended.promise;
  } catch (error) {
    throw new Error(loginFailure(error), { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
    sessions.keep();
    // A client that is stopped in the middle of connecting begins again by itself.
    await Promise.race([connecting?.catch(() => undefined), delay(connectingMs, undefined, { ref: false })]);
    over = true;
    // Any other code would end the session, and with it what is on its way.
    await manager.destroy({ code: CloseCodes.Resuming, reason: "the program stops" });
    await turns.settled();
    await sessions.save();
  }
}

async function ownId(calls: Calls, signal: AbortSignal): Promise<string> {
  const user = await calls.get(Routes.user(), signal);
  const id = typeof user === "object" && user !== null ? (user as { readonly id?: unknown }).id : undefined;
  if (typeof id !== "string") throw new Error("what answers at `base_url` is not Discord");
  return id;
}

function isOutOfReach(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code === unknownChannel || noAccess.has(code));
}

/** Kinds of channels that are threads: of announcements, public, private. */
const threadTypes: ReadonlySet<unknown> = new Set([10, 11, 12]);

function threadParent(channel: unknown): string | null {
  if (typeof channel !== "object" || channel === null) return null;
  const { type, parent_id: parent } = channel as { readonly type?: unknown; readonly parent_id?: unknown };
  return threadTypes.has(type) && typeof parent === "string" ? parent : null;
}

/** Why the gateway closed a connection that no other attempt would get. */
const hopeless: Readonly<Record<number, string>> = {
  4_004: "Discord does not know the bot's token: check `token`",
  4_010: "Discord refuses the connection (invalid shard)",
  4_011: "the bot is in so many servers that Discord asks for shards; restart Parley",
  4_012: "Discord has given up this version of its gateway: update Parley",
  4_013: "Discord refuses the connection (invalid intents)",
  4_014:
    "Discord refuses the connection: switch on Message Content Intent on the page Bot of the developer portal, or set guilds: off",
};

function loginFailure(error: unknown): string {
  if (error instanceof Error && Object.values(hopeless).includes(error.message)) return error.message;
  const text = describe(error);
  return /\b401\b/.test(text) ? (hopeless[4_004] ?? text) : text;
}

function channelIdOf({ d }: Packet): string {
  const id = typeof d === "object" && d !== null ? (d as { readonly channel_id?: unknown }).channel_id : undefined;
  return typeof id === "string" ? id : "";
}

function idOf(message: unknown): bigint {
  const id = typeof message === "object" && message !== null ? (message as { readonly id?: unknown }).id : undefined;
  return typeof id === "string" && /^[0-9]{1,20}$/.test(id) ? BigInt(id) : 0n;
}

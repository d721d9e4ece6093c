import { setTimeout as delay } from "node:timers/promises";
import { CloseCodes, WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import type { SessionInfo } from "@discordjs/ws";
import type { REST } from "discord.js";
import { GatewayIntentBits } from "discord.js";
import type { ChannelHost } from "#channels/contract.ts";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import { allowedAddress, serverOf } from "#channels/http/guarded-connect.ts";
import { describe } from "../errors.ts";
import type { Packet } from "../events.ts";
import type { Sessions } from "./sessions.ts";

export interface GatewayOptions {
  readonly log: ChannelHost["log"];
  readonly rest: REST;
  readonly token: string;
  readonly guilds: "off" | "threads";
  readonly gatewayUrl: string | undefined;
  readonly lookup: GuardedLookup;
}

export interface GatewayHandlers {
  onPacket(packet: Packet, shardId: number, sequence: number): void;
  /** A new session began: Discord does not resend what came before it. */
  onNewSession(): void;
}

/** The connection to Discord's gateway. It runs once: connecting, open, closing, closed. */
export interface Gateway {
  /** Resolves when `signal` aborts and the connection is closed. Rejects when Discord refuses the connection. */
  run(signal: AbortSignal): Promise<void>;
}

/** Longer than a connection attempt takes, and shorter than the program's time to stop. */
const connectingMs = 3_000;

export function createGateway(options: GatewayOptions, sessions: Sessions, handlers: GatewayHandlers): Gateway {
  const { log, rest, token, guilds, gatewayUrl, lookup } = options;
  const ended = Promise.withResolvers<void>();
  let connecting: Promise<void> | undefined;
  let isClosing = false;

  let gateway = "";

  const withGatewayUrl = (info: SessionInfo | null): SessionInfo | null =>
    info === null || gatewayUrl === undefined ? info : { ...info, resumeURL: gatewayUrl };

  /** The client takes no lookup, so its server is checked right before each connection. */
  async function checked(info: SessionInfo | null): Promise<SessionInfo | null> {
    if (lookup === undefined) return info;
    try {
      await allowedAddress(lookup, serverOf(info?.resumeURL ?? gateway));
      return info;
    } catch (error) {
      // An error here would end the process when the client reconnects by itself.
      ended.reject(error);
      return new Promise<never>(() => undefined);
    }
  }

  const manager = new WebSocketManager({
    token,
    intents:
      GatewayIntentBits.DirectMessages |
      GatewayIntentBits.DirectMessageReactions |
      (guilds === "off"
        ? 0
        : GatewayIntentBits.Guilds |
          GatewayIntentBits.GuildMessages |
          GatewayIntentBits.GuildMessageReactions |
          GatewayIntentBits.MessageContent),
    rest,
    // The client calls this before every connection. A client that has just lost its connection does not notice
    // `destroy`, would reconnect, and would take the session from its successor.
    retrieveSessionInfo: (shardId) =>
      isClosing ? new Promise<never>(() => undefined) : checked(withGatewayUrl(sessions.get(shardId))),
    updateSessionInfo: (shardId, info) => sessions.set(shardId, info),
  });
  const fetchInformation = manager.fetchGatewayInformation.bind(manager);
  manager.fetchGatewayInformation = async (force) => {
    const information = await fetchInformation(force);
    // The API names Discord's own gateway; `gateway_url` replaces it.
    gateway = gatewayUrl ?? information.url;
    return { ...information, url: gateway };
  };
  manager.on(WebSocketShardEvents.Dispatch, ({ data, shardId }) => handlers.onPacket(data, shardId, data.s));
  manager.on(WebSocketShardEvents.Ready, () => handlers.onNewSession());
  manager.on(WebSocketShardEvents.Error, ({ error }) =>
    log.warn({ reason: describe(error) }, "discord: connection failed"),
  );
  manager.on(WebSocketShardEvents.Closed, ({ code }) => {
    const reason = permanentClose[code];
    if (reason !== undefined) ended.reject(new Error(reason));
  });

  async function close(): Promise<void> {
    sessions.keep();
    // A client destroyed while it connects would reconnect by itself.
    await Promise.race([connecting?.catch(() => undefined), delay(connectingMs, undefined, { ref: false })]);
    isClosing = true;
    // Any other close code would end the session, and Discord would not resend undelivered packets.
    await manager.destroy({ code: CloseCodes.Resuming, reason: "the program stops" });
  }

  return {
    async run(signal) {
      const stop = (): void => ended.resolve();
      signal.addEventListener("abort", stop, { once: true });
      try {
        connecting = manager.connect();
        await Promise.race([connecting, ended.promise]);
        await ended.promise;
      } catch (error) {
        throw new Error(loginFailure(error), { cause: error });
      } finally {
        signal.removeEventListener("abort", stop);
        await close();
      }
    },
  };
}

/** Close codes after which a reconnect would fail again. */
const permanentClose: Readonly<Record<number, string>> = {
  4_004: "Discord does not know the bot's token: check `token`",
  4_010: "Discord refuses the connection (invalid shard)",
  4_011: "the bot is in so many servers that Discord requires shards; restart Parley",
  4_012: "Discord no longer supports this version of its gateway: update Parley",
  4_013: "Discord refuses the connection (invalid intents)",
  4_014:
    "Discord refuses the connection: switch on Message Content Intent on the page Bot of the developer portal, or set guilds: off",
};

function loginFailure(error: unknown): string {
  if (error instanceof Error && Object.values(permanentClose).includes(error.message)) return error.message;
  const text = describe(error);
  return /\b401\b/.test(text) ? (permanentClose[4_004] ?? text) : text;
}

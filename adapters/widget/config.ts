import Type from "typebox";
import type { Static } from "typebox";
import type { ChannelHost } from "#channels/contract.ts";

const count = (description: string, byDefault: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: byDefault, description }));

/** An account's configuration. All of it may be left out. */
export const widgetConfig = Type.Object({
  connections_per_minute: count("New connections that one address may open in a minute", 120),
  sockets_per_address: count("Connections that one address may hold open at a time", 100),
  messages_per_minute: count("Messages that one visitor may send in a minute", 20),
  messages_per_minute_address: count("Messages that may come from one address in a minute", 120),
});

export type WidgetConfig = Static<typeof widgetConfig>;

/** Each call takes a slot; false when there is none left. */
export interface Limits {
  connection(address: string): boolean;
  frame(address: string): boolean;
  message(sessionId: string, address: string): boolean;
  typing(sessionId: string): boolean;
  resume(sessionId: string): boolean;
  file(sessionId: string, address: string): boolean;
  older(sessionId: string): boolean;
  readonly socketsPerAddress: number;
}

const minuteMs = 60_000;

export function createLimits(config: WidgetConfig, host: Pick<ChannelHost, "allow">): Limits {
  const perSession = config.messages_per_minute ?? 20;
  const perAddress = config.messages_per_minute_address ?? 120;
  return {
    socketsPerAddress: config.sockets_per_address ?? 100,
    connection: (address) => host.allow(`connect:${address}`, config.connections_per_minute ?? 120, minuteMs),
    // Room for every message with its typing, sight and heartbeat frames; a flood is far above it.
    frame: (address) => host.allow(`frame:${address}`, 20 * perAddress, minuteMs),
    message: (sessionId, address) =>
      host.allow(`message:${sessionId}`, perSession, minuteMs) &&
      host.allow(`message-from:${address}`, perAddress, minuteMs),
    // A browser asks for what it missed once in a long while; each time is a reading of the history.
    resume: (sessionId) => host.allow(`resume:${sessionId}`, 12, minuteMs),
    file: (sessionId, address) =>
      host.allow(`file:${sessionId}`, perSession, minuteMs) && host.allow(`file-from:${address}`, perAddress, minuteMs),
    // Whoever scrolls fast through a long history waits for it a little.
    older: (sessionId) => host.allow(`older:${sessionId}`, 60, minuteMs),
    typing: (sessionId) => host.allow(`typing:${sessionId}`, 1, 1_500),
  };
}

/** What counts as one address: an IPv4 address, or the /64 that an IPv6 customer has to themselves. */
export function addressKey(remoteAddress: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  if (!remoteAddress.includes(":")) return remoteAddress;
  const [head = "", tail = ""] = (remoteAddress.split("%")[0] ?? "").toLowerCase().split("::");
  const start = head === "" ? [] : head.split(":");
  const end = tail === "" ? [] : tail.split(":");
  const groups = remoteAddress.includes("::")
    ? [...start, ...Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => "0"), ...end]
    : start;
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/u, ""))
    .join(":")}::/64`;
}

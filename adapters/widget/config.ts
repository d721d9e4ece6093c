import Type from "typebox";
import type { Static } from "typebox";
import type { ChannelHost } from "#channels/contract.ts";

const count = (description: string, byDefault: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: byDefault, description }));

/** An account's configuration. Everything is optional. */
export const widgetConfig = Type.Object({
  connections_per_minute: count("New connections that one address may open in a minute", 120),
  sockets_per_address: count("Connections that one address may hold open at a time", 100),
  messages_per_minute: count("Messages that one visitor may send in a minute", 20),
  messages_per_minute_address: count("Messages that may come from one address in a minute", 120),
});

export type WidgetConfig = Static<typeof widgetConfig>;

/** Rate limits. Each call counts; false: the limit is reached. */
export interface Limits {
  connection(address: string): boolean;
  frame(address: string): boolean;
  exchange(address: string): boolean;
  message(sessionId: string, address: string): boolean;
  typing(sessionId: string): boolean;
  resume(sessionId: string): boolean;
  file(sessionId: string, address: string): boolean;
  older(sessionId: string): boolean;
  feedback(sessionId: string): boolean;
  readonly socketsPerAddress: number;
}

const minuteMs = 60_000;

export function createLimits(config: WidgetConfig, host: Pick<ChannelHost, "allow">): Limits {
  const perSession = config.messages_per_minute ?? 20;
  const perAddress = config.messages_per_minute_address ?? 120;
  return {
    socketsPerAddress: config.sockets_per_address ?? 100,
    connection: (address) => host.allow(`connect:${address}`, config.connections_per_minute ?? 120, minuteMs),
    // Leaves room for the typing, seen and ping frames of every message.
    frame: (address) => host.allow(`frame:${address}`, 20 * perAddress, minuteMs),
    // One for each message, and one for each wait that ends.
    exchange: (address) => host.allow(`exchange:${address}`, 5 * perAddress, minuteMs),
    message: (sessionId, address) =>
      host.allow(`message:${sessionId}`, perSession, minuteMs) &&
      host.allow(`message-from:${address}`, perAddress, minuteMs),
    // A browser misses messages rarely, and each resume rereads the history.
    resume: (sessionId) => host.allow(`resume:${sessionId}`, 12, minuteMs),
    file: (sessionId, address) =>
      host.allow(`file:${sessionId}`, perSession, minuteMs) && host.allow(`file-from:${address}`, perAddress, minuteMs),
    older: (sessionId) => host.allow(`older:${sessionId}`, 60, minuteMs),
    feedback: (sessionId) => host.allow(`feedback:${sessionId}`, 30, minuteMs),
    typing: (sessionId) => host.allow(`typing:${sessionId}`, 1, 1_500),
  };
}

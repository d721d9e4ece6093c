import { SocketModeClient } from "@slack/socket-mode";
import type { ChannelHost } from "#channels/contract.ts";
import { createAgent, refusalIn } from "#channels/http/guarded-connect.ts";
import { clientOptions, sdkLogger } from "./client.ts";
import type { Deliveries } from "./deliveries/app.ts";
import { fieldsOf, parseJson } from "./deliveries/deliveries.ts";
import { failureOf, isRevoked, operatorError } from "./errors.ts";

export interface ConnectionDependencies {
  readonly appToken: string;
  readonly baseUrl: string;
  readonly deliveries: Deliveries;
  readonly host: Pick<ChannelHost, "allow" | "log" | "lookup">;
}

/** A delivery as the client emits it. */
interface SocketDelivery {
  readonly body?: unknown;
  ack(response?: Readonly<Record<string, unknown>>): Promise<void>;
}

/** The client's own event names. An event of Slack's with such a name must not be mistaken for one. */
const ownEvents = new Set([
  "authenticated",
  "close",
  "connected",
  "connecting",
  "disconnected",
  "disconnecting",
  "error",
  "outgoing_message",
  "reconnecting",
  "slack_event",
  "ws_message",
]);

/** Slack replaces a connection every few hours. More than this in a row indicates a problem. */
const connectionsMax = 10;
const connectionsWindowMs = 60_000;
/** Slack sends a greeting on each connection. Without it, nothing is delivered. */
const helloMs = 30_000;
/** A socket that does not close in this time is terminated. */
const closeMs = 2_000;

/**
 * Stays connected to Slack until `signal` aborts. A delivery is acknowledged when it is stored; Slack resends
 * unacknowledged ones. Rejects when Slack cannot be connected to: the host reconnects after a while.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!dependencies.host.allow("slack connections", connectionsMax, connectionsWindowMs)) {
      throw new Error("Slack closes every connection at once: is another app using this app_token?");
    }
    await connection(dependencies, signal);
  }
}

/** Runs one connection until it ends. */
async function connection(
  { appToken, baseUrl, deliveries, host }: ConnectionDependencies,
  signal: AbortSignal,
): Promise<void> {
  const guard = host.lookup === undefined ? undefined : withMemory(host.lookup);
  const client = new SocketModeClient({
    appToken,
    // The client's own reconnect throws errors that cannot be caught.
    autoReconnectEnabled: false,
    logger: sdkLogger(host.log),
    clientOptions: clientOptions(baseUrl),
    // For the call of the API, and for the socket.
    ...(guard === undefined ? {} : { dispatcher: createAgent(guard.lookup) }),
  });
  keepMalformedOut(client, host);
  const atWork = new Set<Promise<void>>();
  client.on("slack_event", (handed: SocketDelivery) => {
    const work = answer(handed).finally(() => atWork.delete(work));
    atWork.add(work);
  });

  async function answer({ body, ack }: SocketDelivery): Promise<void> {
    try {
      const reply = await deliveries.take(body);
      await ack(reply ?? undefined);
    } catch (error) {
      host.log.error({ err: error }, "slack: storing or acknowledging a delivery failed, awaiting redelivery");
    }
  }

  let cutOff: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    void client.disconnect();
    // A second call of `disconnect` does not wait for the other side.
    cutOff ??= setTimeout(() => void client.disconnect(), closeMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  const patience = setTimeout(stop, helloMs);
  try {
    await client.start();
    clearTimeout(patience);
    const ended = new Promise((resolve) => client.once("disconnected", resolve));
    // An abort before the socket opened had nothing to close.
    if (signal.aborted) stop();
    await ended;
  } catch (error) {
    if (!signal.aborted) throw guard?.refusal() ?? socketError(error);
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(patience);
    clearTimeout(cutOff);
    await Promise.allSettled(atWork);
  }
}

/** The client drops the reason of a socket that cannot be opened. */
function withMemory(lookup: NonNullable<ChannelHost["lookup"]>) {
  let reason: string | undefined;
  const remembering: typeof lookup = (name, options, callback) =>
    lookup(name, options, (error, ...found) => {
      reason = refusalIn(error) ?? reason;
      callback(error, ...found);
    });
  return {
    lookup: remembering,
    refusal: () => (reason === undefined ? undefined : new Error(`Slack cannot be reached (${reason})`)),
  };
}

/** Drops malformed messages: the client throws errors on them that cannot be caught. */
function keepMalformedOut(client: SocketModeClient, { log }: Pick<ChannelHost, "log">): void {
  const readers = client.listeners("ws_message");
  client.removeAllListeners("ws_message");
  client.on("ws_message", (data: unknown, isBinary: unknown) => {
    if (typeof data !== "string" || isBinary === true || !isReadable(parseJson(data))) {
      log.warn({}, "slack: unknown socket message skipped");
      return;
    }
    for (const read of readers) read(data, false);
  });
}

function isReadable(given: unknown): boolean {
  const { type, payload } = fieldsOf(given);
  if (typeof type !== "string" || ownEvents.has(type)) return false;
  if (type !== "events_api") return true;
  const event = fieldsOf(fieldsOf(payload)["event"])["type"];
  return typeof event === "string" && !ownEvents.has(event);
}

function socketError(error: unknown): Error {
  const failure = failureOf(error);
  if (isRevoked(failure)) {
    return new Error("Slack does not know app_token: make an app-level token on the app's page Basic Information");
  }
  if (failure.kind === "refused" && /^(?:not_allowed_token_type|missing_scope)$/.test(failure.code)) {
    return new Error(
      "app_token is not an app-level token with the scope connections:write: make one on the app's page Basic Information",
    );
  }
  return operatorError(failure);
}

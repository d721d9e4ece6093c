import { SocketModeClient } from "@slack/socket-mode";
import type { ChannelHost } from "#channels/contract.ts";
import { clientOptions, sdkLogger } from "./client.ts";
import type { Delivery } from "./deliveries/deliveries.ts";
import { commandDelivery, eventDelivery, fieldsOf, interactionDelivery, parseJson } from "./deliveries/deliveries.ts";
import type { Webhook } from "./webhook.ts";
import { failureOf, operatorError } from "./errors.ts";

export interface ConnectionDependencies {
  readonly appToken: string;
  readonly baseUrl: string;
  readonly webhook: Pick<Webhook, "take">;
  readonly host: Pick<ChannelHost, "allow" | "log">;
}

/** What the client hands over of one delivery. */
interface Handed {
  readonly type?: string;
  readonly body?: unknown;
  ack(response?: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Events whose names the client uses for itself: one of Slack's that is called so must not be taken for it. */
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

/** Slack closes a connection every few hours, and asks for a new one. More often than this, something is wrong. */
const connectionsMax = 10;
const connectionsWindowMs = 60_000;
/** Slack greets whoever has connected. Without that, nothing comes over the connection. */
const helloMs = 30_000;
/** A socket that does not close in this time is cut off. */
const closeMs = 2_000;

/**
 * Keeps a connection to Slack until `signal` aborts. A delivery is acknowledged when it is stored; what was not
 * acknowledged comes again. Rejects when Slack cannot be connected to: the host begins anew after a while.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!dependencies.host.allow("slack connections", connectionsMax, connectionsWindowMs)) {
      throw new Error("Slack closes every connection at once: is another app using this app_token?");
    }
    await connection(dependencies, signal);
  }
}

/** One connection, until it ends. */
async function connection(
  { appToken, baseUrl, webhook, host }: ConnectionDependencies,
  signal: AbortSignal,
): Promise<void> {
  const client = new SocketModeClient({
    appToken,
    // Its own way to connect again throws where nobody can catch.
    autoReconnectEnabled: false,
    logger: sdkLogger(host.log),
    clientOptions: clientOptions(baseUrl),
  });
  keepMalformedOut(client, host);
  const atWork = new Set<Promise<void>>();
  client.on("slack_event", (handed: Handed) => {
    const work = answer(handed).finally(() => atWork.delete(work));
    atWork.add(work);
  });

  async function answer({ type, body, ack }: Handed): Promise<void> {
    try {
      const reply = await webhook.take(deliveryOf(type, body));
      await ack(reply ?? undefined);
    } catch (error) {
      host.log.error({ err: error }, "slack: storing or acknowledging a delivery failed, awaiting redelivery");
    }
  }

  let cutOff: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    void client.disconnect();
    // Asked a second time, the client does not wait for the other side any more.
    cutOff ??= setTimeout(() => void client.disconnect(), closeMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  const patience = setTimeout(stop, helloMs);
  try {
    await client.start();
    clearTimeout(patience);
    const ended = new Promise((resolve) => client.once("disconnected", resolve));
    // While it was being opened there was nothing to close.
    if (signal.aborted) stop();
    await ended;
  } catch (error) {
    if (!signal.aborted) throw socketError(error);
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(patience);
    clearTimeout(cutOff);
    await Promise.allSettled(atWork);
  }
}

function deliveryOf(type: string | undefined, body: unknown): Delivery {
  switch (type) {
    case "events_api":
      return eventDelivery(body);
    case "interactive":
      return interactionDelivery(body);
    case "slash_commands":
      return commandDelivery(body);
    default:
      return { kind: "unknown", what: "an envelope" };
  }
}

/** The client reads every message as one of Slack's, and fails at others where nobody can catch. */
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
  if (failure.kind === "refused" && /^(?:invalid_auth|not_authed|account_inactive|token_revoked)$/.test(failure.code)) {
    return new Error("Slack does not know app_token: make an app-level token on the app's page Basic Information");
  }
  if (failure.kind === "refused" && /^(?:not_allowed_token_type|missing_scope)$/.test(failure.code)) {
    return new Error(
      "app_token is not an app-level token with the scope connections:write: make one on the app's page Basic Information",
    );
  }
  return operatorError(failure);
}

import type { ConnectionState } from "#channels/connection-state.ts";
import type { ChannelAdapter } from "#channels/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { AccountStatus } from "./account-status.ts";
import type { OpenAccount } from "./open-account.ts";
import type { ChannelRegistry } from "./registry.ts";

/** Longest wait for an adapter to end its connection. */
const graceMs = 5_000;
const backoffMinMs = 1_000;
export const backoffMaxMs = 60_000;

/** Returns the connection that one process must keep. Undefined if the platform only calls the webhook. */
export function runOf({ inbound }: ChannelAdapter): ((signal: AbortSignal) => Promise<void>) | undefined {
  if (inbound.kind === "connection") return (signal) => inbound.run(signal);
  if (inbound.kind !== "webhook" || (inbound.register ?? inbound.run) === undefined) return undefined;
  return async (signal) => {
    await inbound.register?.(signal);
    if (inbound.run !== undefined) return inbound.run(signal);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  };
}

/** The connection of an account, as this process sees it. */
export interface Connection {
  readonly opened: OpenAccount;
  state: ConnectionState["state"];
  cause: string | null;
  leaseUntil: number;
  /** Present while `run` runs. */
  running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;
  backoffMs: number;
  notBefore: number;
  /** Cancels the timer of the next try, which would delay the end of the program. */
  stopRetry: () => void;
}

export const newConnection = (opened: OpenAccount): Connection => ({
  opened,
  state: "elsewhere",
  cause: null,
  leaseUntil: 0,
  running: undefined,
  backoffMs: backoffMinMs,
  notBefore: 0,
  stopRetry: () => undefined,
});

interface RunDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: Pick<ChannelRegistry, "hold">;
  readonly status: Pick<AccountStatus, "connection">;
}

/** Runs the connection until it ends or is aborted. `retry` is called some time after it broke. */
export function startConnection(
  connection: Connection,
  { clock, log, channels, status }: RunDependencies,
  retry: () => void,
): void {
  const { account, adapter, revision } = connection.opened;
  const run = runOf(adapter);
  if (run === undefined) return;
  const abort = new AbortController();
  const startedAt = clock.now();
  connection.state = "running";
  connection.cause = null;
  status.connection(account.id, revision, "running", null);
  const release = channels.hold(connection.opened);
  const ended = run(abort.signal)
    .then(
      () => undefined,
      (error: unknown) => error,
    )
    .then((error) => {
      release();
      connection.running = undefined;
      if (abort.signal.aborted) return;
      // Repeated failures double the delay. A connection that lasted resets it.
      if (clock.now() - startedAt >= backoffMaxMs) connection.backoffMs = backoffMinMs;
      connection.notBefore = clock.now() + connection.backoffMs;
      connection.state = "broken";
      connection.cause = error instanceof Error ? error.message : "the connection ended";
      status.connection(account.id, revision, "broken", connection.cause);
      log.warn(
        { err: error, account: account.name, againInMs: connection.backoffMs },
        "connections: connection broke, reconnecting",
      );
      connection.stopRetry = clock.timer(connection.backoffMs, retry);
      connection.backoffMs = Math.min(connection.backoffMs * 2, backoffMaxMs);
    });
  connection.running = { abort, ended };
}

/** Aborts the connection, and waits for its end for a while. */
export async function endConnection(connection: Connection, clock: Clock, reason: string): Promise<void> {
  const { running } = connection;
  connection.stopRetry();
  if (running === undefined) return;
  running.abort.abort(new Error(reason));
  const grace = Promise.withResolvers<void>();
  const stopGrace = clock.timer(graceMs, () => grace.resolve());
  await Promise.race([running.ended, grace.promise]);
  stopGrace();
}

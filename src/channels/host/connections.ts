import type { ConnectionState } from "#channels/connection-state.ts";
import type { ChannelAdapter } from "#channels/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { releaseConnection, takeConnection } from "#database/queries/connection-leases.ts";
import type { ChannelRegistry, Opened } from "./registry.ts";

/** What has to run for this account; undefined where the platform comes to us unasked. */
function runOf({ inbound }: ChannelAdapter): ((signal: AbortSignal) => Promise<void>) | undefined {
  if (inbound.kind === "connection") return (signal) => inbound.run(signal);
  if (inbound.kind !== "webhook" || (inbound.register ?? inbound.run) === undefined) return undefined;
  return async (signal) => {
    await inbound.register?.(signal);
    if (inbound.run !== undefined) return inbound.run(signal);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  };
}

export interface Connections {
  states(): readonly ConnectionState[];
  /** Ends every connection of this process, and leaves them to others at once. */
  close(): Promise<void>;
}

export interface ConnectionDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly processId: string;
  readonly channels: Pick<ChannelRegistry, "open">;
}

const lookMs = 5_000;
const leaseMs = 15_000;
const watchMs = 1_000;
/** An adapter that does not end its connection in this time is left behind. */
const graceMs = 5_000;
/** Before the lease ends by this much, a connection whose lease could not be renewed is ended: another may begin it then. */
const leaseMarginMs = 3_000;
const backoffMinMs = 1_000;
const backoffMaxMs = 60_000;

interface Connection {
  readonly opened: Opened;
  state: ConnectionState["state"];
  cause: string | null;
  leaseUntil: number;
  /** Present while `run` runs. */
  running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;
  backoffMs: number;
  notBefore: number;
  /** A wait for the next attempt would keep the program from ending. */
  stopRetry: () => void;
}

/**
 * Runs the connections to platforms that adapters keep themselves (gateway sockets, long polls, mailboxes): each in
 * exactly one process at a time, under a lease that is renewed while it runs, and begun again when it ends.
 */
export function openConnections({ store, clock, log, processId, channels }: ConnectionDependencies): Connections {
  const known = new Map<string, Connection>();
  /** Accounts whose adapter cannot be made, told once. */
  const unusable = new Set<string>();
  let closing = false;
  let failing = false;
  let looking: Promise<void> = Promise.resolve();
  let stopTimer = clock.timer(0, tick);
  let stopWatch = clock.timer(watchMs, watch);

  function tick(): void {
    looking = look()
      .catch((error: unknown) => {
        if (!failing) log.error({ err: error }, "connections: check failed, retrying");
        failing = true;
      })
      .finally(() => {
        if (!closing) stopTimer = clock.timer(lookMs, tick);
      });
  }

  function watch(): void {
    endOverdue();
    if (!closing) stopWatch = clock.timer(watchMs, watch);
  }

  async function look(): Promise<void> {
    const rows = await store.read
      .selectFrom("accounts")
      .select("id")
      .where("enabled", "=", 1)
      .where("managed_by", "!=", "builtin")
      // An account of a workspace that is being deleted may stay for a while.
      .where("workspace_id", "not in", (eb) =>
        eb.selectFrom("workspaces").select("id").where("deleted_at", "is not", null),
      )
      .execute();
    failing = false;
    const wanted = new Set(rows.map(({ id }) => id));
    for (const [id, connection] of known) {
      if (wanted.has(id)) continue;
      known.delete(id);
      await end(connection, "the account was removed or disabled");
    }
    for (const id of wanted) {
      if (closing) return;
      await tend(id);
    }
  }

  async function tend(accountId: string): Promise<void> {
    const connection = known.get(accountId) ?? (await openConnection(accountId));
    if (connection === undefined) return;
    const until = clock.now() + leaseMs;
    const mine = await take(accountId, until);
    if (!mine) {
      connection.state = "elsewhere";
      connection.cause = null;
      connection.running?.abort.abort(new Error("another process has taken the connection over"));
      return;
    }
    connection.leaseUntil = until;
    // A clock that was put back would make it wait for longer than it is to.
    const isLate = clock.now() >= connection.notBefore || connection.notBefore - clock.now() > backoffMaxMs;
    if (connection.running === undefined && isLate && !closing) begin(connection);
  }

  /** Undefined for an account whose platform comes to us. */
  async function openConnection(accountId: string): Promise<Connection | undefined> {
    let opened: Opened | undefined;
    try {
      opened = await channels.open(accountId);
    } catch (error) {
      if (!unusable.has(accountId)) log.error({ err: error, account: accountId }, "connections: account unusable");
      unusable.add(accountId);
      return undefined;
    }
    unusable.delete(accountId);
    if (opened === undefined || runOf(opened.adapter) === undefined) return undefined;
    const connection: Connection = {
      opened,
      state: "elsewhere",
      cause: null,
      leaseUntil: 0,
      running: undefined,
      backoffMs: backoffMinMs,
      notBefore: 0,
      stopRetry: () => undefined,
    };
    known.set(accountId, connection);
    return connection;
  }

  async function take(accountId: string, until: number): Promise<boolean> {
    try {
      return await store.write((tx) => takeConnection(tx, accountId, { holder: processId, until }, clock.now()));
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  function begin(connection: Connection): void {
    const { account, adapter } = connection.opened;
    const run = runOf(adapter);
    if (run === undefined) return;
    const abort = new AbortController();
    const begun = clock.now();
    connection.state = "running";
    connection.cause = null;
    const ended = run(abort.signal)
      .then(
        () => undefined,
        (error: unknown) => error,
      )
      .then((error) => {
        connection.running = undefined;
        if (abort.signal.aborted) return;
        // What held for a while is begun anew at once; what fails again and again is left in peace for longer each time.
        if (clock.now() - begun >= backoffMaxMs) connection.backoffMs = backoffMinMs;
        connection.notBefore = clock.now() + connection.backoffMs;
        connection.state = "broken";
        connection.cause = error instanceof Error ? error.message : "the connection ended";
        log.warn(
          { err: error, account: account.name, againInMs: connection.backoffMs },
          "connections: connection broke, reconnecting",
        );
        connection.stopRetry = clock.timer(connection.backoffMs, () => {
          if (known.get(account.id) === connection && !closing) tendSoon(account.id);
        });
        connection.backoffMs = Math.min(connection.backoffMs * 2, backoffMaxMs);
      });
    connection.running = { abort, ended };
  }

  /** One look after the other: two at once could begin a connection twice. */
  function tendSoon(accountId: string): void {
    looking = looking
      .then(() => tend(accountId))
      .catch((error: unknown) => {
        log.warn({ err: error, account: accountId }, "connections: restart failed, retrying");
      });
  }

  /** While the database is away no lease is renewed, and others may begin what we still hold. */
  function endOverdue(): void {
    for (const connection of known.values()) {
      if (connection.running === undefined || connection.leaseUntil - leaseMarginMs > clock.now()) continue;
      connection.state = "broken";
      connection.cause = "the database does not answer, so that this process cannot keep the connection to itself";
      connection.running.abort.abort(new Error(connection.cause));
    }
  }

  async function end(connection: Connection, reason: string): Promise<void> {
    const { running } = connection;
    connection.stopRetry();
    if (running !== undefined) {
      running.abort.abort(new Error(reason));
      const grace = Promise.withResolvers<void>();
      const stopGrace = clock.timer(graceMs, () => grace.resolve());
      await Promise.race([running.ended, grace.promise]);
      stopGrace();
    }
    await store.write((tx) => releaseConnection(tx, connection.opened.account.id, processId));
  }

  return {
    states: () =>
      [...known.values()].map(({ opened, state, cause }) => ({
        accountId: opened.account.id,
        name: opened.account.name,
        state,
        cause,
      })),
    async close() {
      closing = true;
      stopTimer();
      stopWatch();
      await looking;
      await Promise.all([...known.values()].map((connection) => end(connection, "the program stops")));
    },
  };
}

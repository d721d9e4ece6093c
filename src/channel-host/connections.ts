import type { ConnectionState } from "#channels/connection-state.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import { releaseConnection, takeConnection } from "#database/queries/connection-leases.ts";
import type { AccountStatus } from "./account-status.ts";
import type { Connection } from "./connection.ts";
import { backoffMaxMs, endConnection, newConnection, runOf, startConnection } from "./connection.ts";
import type { OpenAccount } from "./open-account.ts";
import type { ChannelRegistry } from "./registry.ts";

export interface Connections {
  states(): readonly ConnectionState[];
  /** Starts, replaces and ends the connections of accounts that have changed. */
  look(): void;
  /** Ends every connection of this process and releases its lease, so that other processes can start them at once. */
  close(): Promise<void>;
}

export interface ConnectionDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly processId: string;
  readonly channels: Pick<ChannelRegistry, "open" | "hold">;
  readonly status: Pick<AccountStatus, "connection">;
}

const checkMs = 5_000;
const leaseMs = 15_000;
const watchMs = 1_000;
/** A connection whose lease could not be renewed ends this long before the lease expires, because another process starts it. */
const leaseMarginMs = 3_000;
/**
 * Runs the connections that adapters keep to platforms (gateway sockets, long polls, mailboxes). Each runs in exactly one
 * process at a time, under a lease that is renewed while it runs, and is restarted when it ends.
 */
export function openConnections(dependencies: ConnectionDependencies): Connections {
  const { store, clock, log, processId, channels, status } = dependencies;
  const connections = new Map<string, Connection>();
  /** Accounts whose adapter could not be created. The failure is logged once. */
  const unusable = new Set<string>();
  let closing = false;
  let failing = false;
  let checking: Promise<void> = Promise.resolve();
  let stopTimer = clock.timer(0, tick);
  let stopWatch = clock.timer(watchMs, watch);

  function tick(): void {
    checking = checking
      .then(check)
      .catch((error: unknown) => {
        if (!failing) log.error({ err: error }, "connections: check failed, retrying");
        failing = true;
      })
      .finally(() => {
        if (!closing) stopTimer = clock.timer(checkMs, tick);
      });
  }

  function watch(): void {
    endOverdue();
    if (!closing) stopWatch = clock.timer(watchMs, watch);
  }

  async function check(): Promise<void> {
    const rows = await store.read
      .selectFrom("accounts")
      .select("id")
      .where("enabled", "=", 1)
      .where("paused", "=", 0)
      .where("managed_by", "!=", "builtin")
      // Accounts of a workspace that is being deleted remain for a while.
      .where("workspace_id", "not in", (eb) =>
        eb.selectFrom("workspaces").select("id").where("deleted_at", "is not", null),
      )
      .execute();
    failing = false;
    const enabled = new Set(rows.map(({ id }) => id));
    // At the same time, because each may take some seconds to end.
    await Promise.all(
      [...connections].map(async ([id, connection]) => {
        if (!enabled.has(id)) await end(connection, "the account was paused, removed or disabled");
        else if (await isReplaced(id, connection)) await end(connection, "the account was changed");
        else return;
        connections.delete(id);
      }),
    );
    for (const id of enabled) {
      if (closing) return;
      await renewOrStart(id);
    }
  }

  async function isReplaced(accountId: string, { opened }: Connection): Promise<boolean> {
    // An account that cannot be opened just now keeps its connection until the next look.
    const now = await channels.open(accountId).catch(() => opened);
    return now !== opened;
  }

  async function renewOrStart(accountId: string): Promise<void> {
    const connection = connections.get(accountId) ?? (await openConnection(accountId));
    if (connection === undefined) return;
    const until = clock.now() + leaseMs;
    const isOurs = await takeLease(accountId, until);
    if (!isOurs) {
      connection.state = "elsewhere";
      connection.cause = null;
      connection.running?.abort.abort(new Error("another process has taken the connection over"));
      return;
    }
    connection.leaseUntil = until;
    // After the clock was put back, the wait must not exceed the longest backoff.
    const isDue = clock.now() >= connection.notBefore || connection.notBefore - clock.now() > backoffMaxMs;
    if (connection.running === undefined && isDue && !closing) {
      startConnection(connection, dependencies, () => {
        if (connections.get(accountId) === connection && !closing) renewSoon(accountId);
      });
    }
  }

  /** Undefined for an account without a connection, or whose adapter could not be created. */
  async function openConnection(accountId: string): Promise<Connection | undefined> {
    let opened: OpenAccount | undefined;
    try {
      opened = await channels.open(accountId);
    } catch (error) {
      if (!unusable.has(accountId)) log.error({ err: error, account: accountId }, "connections: account unusable");
      unusable.add(accountId);
      await reportUnusable(accountId, error);
      return undefined;
    }
    unusable.delete(accountId);
    if (opened === undefined || runOf(opened.adapter) === undefined) return undefined;
    const connection = newConnection(opened);
    connections.set(accountId, connection);
    return connection;
  }

  async function takeLease(accountId: string, until: number): Promise<boolean> {
    try {
      return await store.write((tx) => takeConnection(tx, accountId, { holder: processId, until }, clock.now()));
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async function reportUnusable(accountId: string, error: unknown): Promise<void> {
    const row = await store.read
      .selectFrom("accounts")
      .select("revision")
      .where("id", "=", accountId)
      .executeTakeFirst();
    if (row === undefined) return;
    const cause = error instanceof Error ? error.message : "unknown failure";
    status.connection(accountId, row.revision, "unusable", cause);
  }

  /** Checks must not overlap: two at once could start a connection twice. */
  function renewSoon(accountId: string): void {
    checking = checking
      .then(() => renewOrStart(accountId))
      .catch((error: unknown) => {
        log.warn({ err: error, account: accountId }, "connections: restart failed, retrying");
      });
  }

  /** While the database is unreachable no lease is renewed, and other processes may start the connection. */
  function endOverdue(): void {
    for (const connection of connections.values()) {
      if (connection.running === undefined || connection.leaseUntil - leaseMarginMs > clock.now()) continue;
      connection.state = "broken";
      connection.cause = "the database does not answer, so that this process cannot keep the connection to itself";
      connection.running.abort.abort(new Error(connection.cause));
    }
  }

  async function end(connection: Connection, reason: string): Promise<void> {
    await endConnection(connection, clock, reason);
    await store.write((tx) => releaseConnection(tx, connection.opened.account.id, processId));
  }

  return {
    states: () =>
      [...connections.values()].map(({ opened, state, cause }) => ({
        accountId: opened.account.id,
        name: opened.account.name,
        state,
        cause,
      })),
    look() {
      if (closing) return;
      checking = checking.then(check).catch((error: unknown) => {
        log.warn({ err: error }, "connections: check of changed accounts failed, retrying");
      });
    },
    async close() {
      closing = true;
      stopTimer();
      stopWatch();
      await checking;
      await Promise.all([...connections.values()].map((connection) => end(connection, "the program stops")));
    },
  };
}

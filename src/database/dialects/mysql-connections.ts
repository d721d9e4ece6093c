import type { MysqlPool, MysqlPoolConnection, MysqlQueryResult } from "kysely";
import type { Pool, PoolConnection } from "mysql2";
import { DatabaseAway, OutcomeUnknown, StatementTimeout, isConnectionLost, isReadOnly } from "#database/faults.ts";
import type { createMysqlStreams } from "./mysql-stream.ts";

export interface MysqlConnections {
  /** The pool in the form that kysely uses. */
  readonly pool: MysqlPool;
  run(text: string, values: readonly unknown[]): Promise<unknown>;
  inUse(): number;
  /** Statements since the start. */
  statements(): number;
  /** Runs `work` without a time limit for statements. */
  unlimited<T>(work: () => Promise<T>): Promise<T>;
}

export interface ConnectionOptions {
  readonly streams: ReturnType<typeof createMysqlStreams>;
  readonly statementMs: number;
  /** Whether a server without TLS is accepted. */
  readonly mayBePlain: boolean;
}

type Done = (error: unknown, result: MysqlQueryResult) => void;

interface Session {
  readonly host: string;
}

const sessions = "information_schema.processlist";
const lostMax = 100;
const lateMs = 50;

const nothing: MysqlQueryResult = { affectedRows: 0, insertId: 0, changedRows: 0 };

/**
 * Adds to the driver's pool: a time limit for statements; no reuse of connections that failed, or that were opened before
 * the server stalled, closed one of them, or became read-only; {@link OutcomeUnknown} for a COMMIT without an answer; and a failing rollback
 * does not hide its cause.
 */
export function watchConnections(raw: Pool, { streams, statementMs, mayBePlain }: ConnectionOptions): MysqlConnections {
  const known = new WeakMap<PoolConnection, MysqlPoolConnection>();
  /** Connections that must not be reused after their release. */
  const broken = new WeakSet<PoolConnection>();
  const inUse = new Set<PoolConnection>();
  const generations = new WeakMap<PoolConnection, number>();
  /** The client's address and port as the server sees them. */
  const hosts = new WeakMap<PoolConnection, string>();
  /** Client addresses of lost connections whose sessions may still be open, by session id. */
  const lost = new Map<number, string>();
  let generation = 0;
  let limited = true;
  let statements = 0;

  raw.on("connection", (connection: PoolConnection) => {
    streams.signedIn(connection);
    generations.set(connection, generation);
    // The driver listens only once, and a second error without a listener would end the process.
    connection.on("error", () => undefined);
    const failed = (error: unknown): void => {
      if (error !== null) discard(connection);
    };
    // After waiting for a lock, a transaction must read the values that the lock's holder wrote.
    connection.query("set session transaction isolation level read committed", failed);
    connection.query(
      // Only MariaDB ends transactions of lost clients. Transactions here are never idle.
      "set session innodb_lock_wait_timeout = 10, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION' /*M!100300 , idle_transaction_timeout = 30 */",
      failed,
    );
    connection.query(`select host from ${sessions} where id = connection_id()`, (error, rows) => {
      const host = error === null ? (rows as unknown as readonly Session[])[0]?.host : undefined;
      // Connections over a socket file have no port, and cannot be distinguished.
      if (host?.includes(":") === true) hosts.set(connection, host);
    });
    endLost(connection);
  });

  /**
   * Ends sessions of lost connections, which would hold their locks for hours. Compares the client's address too, since a
   * restarted server reuses ids.
   */
  function endLost(connection: PoolConnection): void {
    for (const [id, host] of lost) {
      connection.query(`select host from ${sessions} where id = ? and host = ?`, [id, host], (error, rows) => {
        if (error !== null) return;
        lost.delete(id);
        // Fails where the session has ended meanwhile.
        if ((rows as unknown as readonly Session[]).length > 0) connection.query("kill ?", [id], () => undefined);
      });
    }
  }

  function discard(connection: PoolConnection): void {
    connection.destroy();
    // The driver would wait for a confirmation, which never comes over a broken network.
    streams.destroy(connection);
  }

  function isUsable(connection: PoolConnection): boolean {
    return !broken.has(connection) && generations.get(connection) === generation;
  }

  function release(connection: PoolConnection): void {
    if (!inUse.delete(connection)) return;
    if (isUsable(connection)) connection.release();
    else discard(connection);
  }

  function noteFailure(connection: PoolConnection, error: unknown): void {
    const isGone = error instanceof StatementTimeout || isConnectionLost(error);
    // The other connections of this generation lead to the same server. A retry would meet the next one that is dead.
    if ((isGone || isReadOnly(error)) && generations.get(connection) === generation) generation += 1;
    if (!isGone) return;
    broken.add(connection);
    const host = hosts.get(connection);
    if (host === undefined || lost.size >= lostMax) return;
    lost.set(connection.threadId, host);
    // Without a free connection, the next one that is opened ends the session.
    acquire((failure, other) => {
      if (failure !== null) return;
      endLost(other);
      release(other);
    });
  }

  function query(connection: PoolConnection, text: string, values: readonly unknown[], done: Done): void {
    statements += 1;
    let isOver = false;
    const finish: Done = (error, result) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (error === null) return done(null, result);
      noteFailure(connection, error);
      if (text === "rollback") {
        // Closing the connection rolls back too.
        broken.add(connection);
        return done(null, nothing);
      }
      return done(text === "commit" ? new OutcomeUnknown(error) : error, result);
    };
    const stalled = (): void => {
      finish(new StatementTimeout(statementMs), nothing);
      discard(connection);
    };
    // After a pause of the process, an answer that has arrived is read before the second timer.
    const late = (): void => void (timer = setTimeout(stalled, lateMs));
    let timer = limited ? setTimeout(late, statementMs) : undefined;
    connection.query(text, [...values], (error, result) => finish(error, result as unknown as MysqlQueryResult));
  }

  /** The part of a connection that kysely uses. */
  function watch(connection: PoolConnection): MysqlPoolConnection {
    const watched = {
      threadId: connection.threadId,
      query(text: string, values: readonly unknown[], done?: Done) {
        if (done === undefined) throw new Error("results are not streamed from MySQL");
        query(connection, text, values, done);
      },
      release: () => release(connection),
      destroy: () => discard(connection),
    };
    return watched as unknown as MysqlPoolConnection;
  }

  function acquire(callback: (error: unknown, connection: PoolConnection) => void): void {
    raw.getConnection((error, connection) => {
      if (error !== null) {
        if (!mayBePlain || error.code !== "HANDSHAKE_NO_SSL_SUPPORT") {
          callback(new DatabaseAway(error), connection);
          return;
        }
        withoutTls(raw);
        acquire(callback);
        return;
      }
      if (!isUsable(connection)) {
        discard(connection);
        acquire(callback);
        return;
      }
      inUse.add(connection);
      callback(null, connection);
    });
  }

  return {
    pool: {
      getConnection(callback) {
        acquire((error, connection) => {
          if (error !== null) return callback(error, connection);
          const watched = known.get(connection) ?? watch(connection);
          known.set(connection, watched);
          return callback(null, watched);
        });
      },
      end: (callback) => raw.end(callback),
    },
    async run(text, values) {
      const answered = Promise.withResolvers<unknown>();
      acquire((failure, connection) => {
        if (failure !== null) return answered.reject(failure);
        return query(connection, text, values, (error, result) => {
          release(connection);
          if (error === null) answered.resolve(result);
          else answered.reject(error);
        });
      });
      return answered.promise;
    },
    inUse: () => inUse.size,
    statements: () => statements,
    async unlimited(work) {
      limited = false;
      try {
        return await work();
      } finally {
        limited = true;
      }
    },
  };
}

/** Makes the pool open further connections without TLS. */
function withoutTls(pool: Pool): void {
  const { connectionConfig } = pool.config as unknown as { readonly connectionConfig: { ssl: unknown } };
  connectionConfig.ssl = false;
}

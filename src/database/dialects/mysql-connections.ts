import type { MysqlPool, MysqlPoolConnection, MysqlQueryResult } from "kysely";
import type { Pool, PoolConnection } from "mysql2";
import { DatabaseAway, OutcomeUnknown, StatementTimeout, isConnectionLost, isReadOnly } from "#database/faults.ts";
import type { createMysqlStreams } from "./mysql-stream.ts";

export interface MysqlConnections {
  /** The pool, as kysely uses it. */
  readonly pool: MysqlPool;
  run(text: string, values: readonly unknown[]): Promise<unknown>;
  inUse(): number;
  /** Statements of `work` take as long as they need. */
  unlimited<T>(work: () => Promise<T>): Promise<T>;
}

export interface ConnectionOptions {
  readonly streams: ReturnType<typeof createMysqlStreams>;
  readonly statementMs: number;
  /** A server that has no TLS is used without. */
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
 * The driver's pool, with what it does not do itself: no statement is waited for longer than `statementMs`; a connection
 * that failed, or whose server became read-only, is not used again, nor are those opened before; a COMMIT without an answer
 * is told apart; and a rollback that fails does not hide what caused it.
 */
export function watchConnections(raw: Pool, { streams, statementMs, mayBePlain }: ConnectionOptions): MysqlConnections {
  const known = new WeakMap<PoolConnection, MysqlPoolConnection>();
  /** Connections that are not to be used again once they are released. */
  const broken = new WeakSet<PoolConnection>();
  const inUse = new Set<PoolConnection>();
  const generations = new WeakMap<PoolConnection, number>();
  /** The client's address and port as the server sees them. */
  const hosts = new WeakMap<PoolConnection, string>();
  /** The same of lost connections whose sessions may live on, by the session's id. */
  const lost = new Map<number, string>();
  let generation = 0;
  let limited = true;

  raw.on("connection", (connection: PoolConnection) => {
    streams.signedIn(connection);
    generations.set(connection, generation);
    // The driver listens once; a second error would end the process.
    connection.on("error", () => undefined);
    const failed = (error: unknown): void => {
      if (error !== null) discard(connection);
    };
    // After waiting for a row's lock, a work must read the values that the lock's holder wrote.
    connection.query("set session transaction isolation level read committed", failed);
    connection.query(
      // MariaDB alone ends transactions of clients that are gone; none of ours ever waits for anything but statements.
      "set session innodb_lock_wait_timeout = 10, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION' /*M!100300 , idle_transaction_timeout = 30 */",
      failed,
    );
    connection.query(`select host from ${sessions} where id = connection_id()`, (error, rows) => {
      const host = error === null ? (rows as unknown as readonly Session[])[0]?.host : undefined;
      // Connections over a socket file have no port and cannot be told apart.
      if (host?.includes(":") === true) hosts.set(connection, host);
    });
    endLost(connection);
  });

  /**
   * Ends sessions that the server has not seen to be lost: for hours they would hold the locks of what is tried again. An
   * id alone could be another session's, after a restart of the server.
   */
  function endLost(connection: PoolConnection): void {
    for (const [id, host] of lost) {
      connection.query(`select host from ${sessions} where id = ? and host = ?`, [id, host], (error, rows) => {
        if (error !== null) return;
        lost.delete(id);
        // It fails where the session has ended by itself meanwhile.
        if ((rows as unknown as readonly Session[]).length > 0) connection.query("kill ?", [id], () => undefined);
      });
    }
  }

  function discard(connection: PoolConnection): void {
    connection.destroy();
    // The driver waits for the other side to confirm, which a broken network never does.
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
    const isStalled = error instanceof StatementTimeout;
    if (isStalled || isReadOnly(error)) generation += 1;
    if (!isStalled && !isConnectionLost(error)) return;
    broken.add(connection);
    const host = hosts.get(connection);
    if (host === undefined || lost.size >= lostMax) return;
    lost.set(connection.threadId, host);
    // Where there is none, the first one that is opened does it.
    acquire((failure, other) => {
      if (failure !== null) return;
      endLost(other);
      release(other);
    });
  }

  function query(connection: PoolConnection, text: string, values: readonly unknown[], done: Done): void {
    let isOver = false;
    const finish: Done = (error, result) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (error === null) return done(null, result);
      noteFailure(connection, error);
      if (text === "rollback") {
        // The end of the connection is a rollback too.
        broken.add(connection);
        return done(null, nothing);
      }
      return done(text === "commit" ? new OutcomeUnknown(error) : error, result);
    };
    const stalled = (): void => {
      finish(new StatementTimeout(statementMs), nothing);
      discard(connection);
    };
    // After a pause of the whole process the answer may be there, and is read before the second timer.
    const late = (): void => void (timer = setTimeout(stalled, lateMs));
    let timer = limited ? setTimeout(late, statementMs) : undefined;
    connection.query(text, [...values], (error, result) => finish(error, result as unknown as MysqlQueryResult));
  }

  /** What kysely uses of a connection. */
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

/** Has the pool open its connections without TLS from now on. */
function withoutTls(pool: Pool): void {
  const { connectionConfig } = pool.config as unknown as { readonly connectionConfig: { ssl: unknown } };
  connectionConfig.ssl = false;
}

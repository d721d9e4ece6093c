import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Tx, WriteOptions } from "./contract.ts";
import type { CommitMarks } from "./commit-marks.ts";
import { execute, runsNow } from "./dialects/execute.ts";
import type { RunNow } from "./dialects/execute.ts";
import { DatabaseAway, OutcomeUnknown, isSessionLost } from "./faults.ts";
import type { Database } from "./schema/tables.ts";

interface PendingWrite {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly flush: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
}

export interface GroupCommitOptions {
  /** Number of concurrent transactions. */
  readonly writers: number;
  /** A transaction starts no further work after this time, so that other writes and the event loop can proceed. */
  readonly groupMs: number;
  readonly groupMax: number;
  /** Number of single retries of a work after the database rolled back the whole transaction; 0: fail it. */
  readonly attemptsAfter: (error: unknown) => number;
  /** Set for a database server, since the answer to a COMMIT can be lost. */
  readonly marks?: CommitMarks;
  /** Runs a transaction's statements synchronously, for a database in this process. */
  readonly runNow?: RunNow;
  /**
   * Called before a transaction, for databases that can flush each commit or not. Requires a single writer, since it
   * must not be called within a transaction.
   */
  readonly setFlush?: (flush: boolean) => void;
}

/**
 * Runs concurrent works in one transaction: one flush serves all of them. The first needs no savepoint, since a failure
 * before any other work rolls back the whole transaction; each further work has one, and rolls back alone. A work's
 * promise resolves after the commit.
 */
export function createGroupCommit(db: Kysely<Database>, options: GroupCommitOptions) {
  // Compiled once, since they run around every work.
  const begin = sql`savepoint work`.compile(db);
  const release = sql`release savepoint work`.compile(db);
  const undo = sql`rollback to savepoint work`.compile(db);
  const waiting: PendingWrite[] = [];
  let running = 0;
  /** Transactions since the start. */
  let begun = 0;
  let idle: (() => void)[] = [];

  function write<T>(work: (tx: Tx) => Promise<T>, { flush = true }: WriteOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ work, flush, resolve, reject });
      // One turn of the event loop collects the requests that arrived together.
      if (waiting.length === 1) setImmediate(start);
    });
  }

  function start(): void {
    if (running >= options.writers || waiting.length === 0) return;
    running += 1;
    void run().finally(() => {
      running -= 1;
      if (waiting.length > 0) setImmediate(start);
      else if (running === 0) {
        for (const resolve of idle) resolve();
        idle = [];
      }
    });
  }

  async function run(isFirst = true): Promise<void> {
    const taken: PendingWrite[] = [];
    const settle: (() => void)[] = [];
    const flush = options.setFlush === undefined || waiting.some((each) => each.flush);
    try {
      options.setFlush?.(flush);
      await transact(async (tx) => {
        if (options.runNow !== undefined) runsNow(tx, options.runNow);
        const end = performance.now() + options.groupMs;
        while (
          waiting.length > 0 &&
          taken.length < options.groupMax &&
          (taken.length === 0 || performance.now() < end)
        ) {
          const next = waiting[0];
          // A work that needs a flush arrived during a transaction without one: it gets the next transaction.
          if (next === undefined || (next.flush && !flush)) break;
          waiting.shift();
          taken.push(next);
          await (taken.length === 1 ? runFirst(tx, next, settle) : runFurther(tx, next, settle));
        }
      });
    } catch (error) {
      // The connection was lost earlier; the retry opens a new one.
      if (taken.length === 0 && isFirst && options.attemptsAfter(error) > 0) return run(false);
      // No transaction could begin, so the database is away, and another try now would fail too.
      if (taken.length === 0) taken.push(...waiting.splice(0));
      // Run alone, each work locks only its own rows.
      else if (options.attemptsAfter(error) > 0) return runEachAlone(taken);
      for (const each of taken) each.reject(error);
      return;
    }
    for (const each of settle) each();
  }

  async function runFirst(tx: Tx, { work, resolve }: PendingWrite, settle: (() => void)[]): Promise<void> {
    const value = await work(tx);
    settle.push(() => resolve(value as never));
  }

  async function runFurther(tx: Tx, { work, resolve, reject }: PendingWrite, settle: (() => void)[]): Promise<void> {
    await execute(tx, begin);
    try {
      const value = await work(tx);
      await execute(tx, release);
      settle.push(() => resolve(value as never));
    } catch (error) {
      if (options.attemptsAfter(error) > 0) throw error;
      try {
        await execute(tx, undo);
        await execute(tx, release);
      } catch {
        // The database rolled back the whole transaction, as SQLite does on a full disk. The cause is the failed work's
        // error.
        throw error;
      }
      settle.push(() => reject(error));
    }
  }

  async function runEachAlone(taken: readonly PendingWrite[]): Promise<void> {
    let away: DatabaseAway | undefined;
    for (const each of taken) {
      // Each further work would wait for a connection as long as the previous one.
      if (away !== undefined) each.reject(away);
      else away = await runAlone(each);
    }
  }

  /** Returns the error if no connection is available. */
  async function runAlone({ work, resolve, reject }: PendingWrite): Promise<DatabaseAway | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        let value: unknown;
        await transact(async (tx) => {
          value = await work(tx);
        });
        resolve(value as never);
        return undefined;
      } catch (error) {
        if (attempt >= options.attemptsAfter(error)) {
          reject(error);
          return error instanceof DatabaseAway ? error : undefined;
        }
        await new Promise((resume) => setTimeout(resume, Math.random() * 10 * 2 ** attempt));
      }
    }
  }

  /** Resolves when the transaction is known to be committed. */
  async function transact(body: (tx: Tx) => Promise<void>): Promise<void> {
    begun += 1;
    const mark = options.marks?.take();
    try {
      await db.transaction().execute(async (tx) => {
        await body(tx);
        await mark?.set(tx);
      });
      mark?.release();
    } catch (error) {
      if (mark !== undefined && error instanceof OutcomeUnknown) {
        if (await mark.isCommitted(error)) return;
        throw error.cause;
      }
      // A session that is still open may hold the mark's lock.
      if (!isSessionLost(error)) mark?.release();
      throw error;
    }
  }

  /** Resolves when no write runs or waits. */
  function drained(): Promise<void> {
    if (running === 0 && waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      idle.push(resolve);
    });
  }

  return {
    write,
    isCalm: () => running === 0 && waiting.length === 0,
    drained,
    load: () => ({ writesWaiting: waiting.length, transactions: running, transactionsRun: begun }),
  };
}

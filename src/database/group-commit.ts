import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Tx, WriteOptions } from "./contract.ts";
import type { CommitMarks } from "./commit-marks.ts";
import { execute, runsNow } from "./dialects/execute.ts";
import type { RunNow } from "./dialects/execute.ts";
import { DatabaseAway, OutcomeUnknown, isSessionLost } from "./faults.ts";
import type { Database } from "./schema/tables.ts";

interface Waiting {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly flush: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
}

export interface GroupCommitOptions {
  /** Transactions that may run at the same time. */
  readonly writers: number;
  /** A transaction takes on no further work after this time: what waits for it, and the event loop, must go on. */
  readonly groupMs: number;
  readonly groupMax: number;
  /** How often a work is tried again by itself where the database undid the whole transaction; 0: it failed. */
  readonly attemptsAfter: (error: unknown) => number;
  /** Where the answer to a COMMIT can get lost. */
  readonly marks?: CommitMarks;
  /** How the statements of a transaction are run where the database is in this process. */
  readonly runNow?: RunNow;
  /**
   * Called before a transaction, where each can say whether its commit waits for the disk. Only where there is one writer:
   * it must not be called within a transaction.
   */
  readonly setFlush?: (flush: boolean) => void;
}

/**
 * Runs works that wait at the same time in one transaction, a savepoint each: one flush to disk serves them all, and
 * the failure of one undoes that one alone. A work's promise resolves after the commit.
 */
export function createGroupCommit(db: Kysely<Database>, options: GroupCommitOptions) {
  // Run around every work: to build them each time would cost more than they do.
  const begin = sql`savepoint work`.compile(db);
  const release = sql`release savepoint work`.compile(db);
  const undo = sql`rollback to savepoint work`.compile(db);
  const waiting: Waiting[] = [];
  let running = 0;
  let idle: (() => void)[] = [];

  function write<T>(work: (tx: Tx) => Promise<T>, { flush = true }: WriteOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ work, flush, resolve, reject });
      // One turn of the event loop gathers the requests that arrived together.
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
    const taken: Waiting[] = [];
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
          // What must be on the disk came while the others were at work: it has the next transaction.
          if (next === undefined || (next.flush && !flush)) break;
          waiting.shift();
          taken.push(next);
          await runOne(tx, next, settle);
        }
      });
    } catch (error) {
      // The connection had been lost before; the next one is new.
      if (taken.length === 0 && isFirst && options.attemptsAfter(error) > 0) return run(false);
      // There is no transaction to be had, and trying again at once would have none either: the database is away.
      if (taken.length === 0) taken.push(...waiting.splice(0));
      // Alone, each contends for its own rows only.
      else if (options.attemptsAfter(error) > 0) return runEachAlone(taken);
      for (const each of taken) each.reject(error);
      return;
    }
    for (const each of settle) each();
  }

  async function runOne(tx: Tx, { work, resolve, reject }: Waiting, settle: (() => void)[]): Promise<void> {
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
        // The database undid the whole transaction, as SQLite does on a full disk: why is what the work failed of.
        throw error;
      }
      settle.push(() => reject(error));
    }
  }

  async function runEachAlone(taken: readonly Waiting[]): Promise<void> {
    let away: DatabaseAway | undefined;
    for (const each of taken) {
      // Each would wait for a connection as long as the one before it.
      if (away !== undefined) each.reject(away);
      else away = await runAlone(each);
    }
  }

  /** The error when no connection can be had. */
  async function runAlone({ work, resolve, reject }: Waiting): Promise<DatabaseAway | undefined> {
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

  /** Resolves when nothing runs or waits. */
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
    load: () => ({ writesWaiting: waiting.length, transactions: running }),
  };
}

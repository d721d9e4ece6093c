import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Tx, WriteOptions } from "#engine/ports.ts";
import { execute, runsNow } from "./execute.ts";
import type { RunNow } from "./execute.ts";
import type { Database } from "./schema.ts";

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
  /** True where the database undid the whole transaction and asks for it to be run again. */
  readonly mustRetry: (error: unknown) => boolean;
  /** How the statements of a transaction are run where the database is in this process. */
  readonly runNow?: RunNow;
  /**
   * Called before a transaction, where each can say whether its commit waits for the disk. Only where there is one writer:
   * it must not be called within a transaction.
   */
  readonly setFlush?: (flush: boolean) => void;
}

const attemptsMax = 6;

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

  async function run(): Promise<void> {
    const taken: Waiting[] = [];
    const settle: (() => void)[] = [];
    const flush = options.setFlush === undefined || waiting.some((each) => each.flush);
    try {
      options.setFlush?.(flush);
      await db.transaction().execute(async (tx) => {
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
      // There is no transaction to be had, and trying again at once would have none either: the database is away.
      if (taken.length === 0) taken.push(...waiting.splice(0));
      else if (options.mustRetry(error)) {
        // Alone, each contends for its own rows only.
        for (const each of taken) await runAlone(each);
        return;
      }
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
      if (options.mustRetry(error)) throw error;
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

  async function runAlone({ work, resolve, reject }: Waiting): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const value = await db.transaction().execute(work);
        resolve(value as never);
        return;
      } catch (error) {
        if (!options.mustRetry(error) || attempt >= attemptsMax) {
          reject(error);
          return;
        }
        await new Promise((resume) => setTimeout(resume, Math.random() * 10 * 2 ** attempt));
      }
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

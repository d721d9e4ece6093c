import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { CompiledQuery } from "kysely";
import type { Tx } from "./contract.ts";
import { execute } from "./dialects/execute.ts";
import { isDatabaseFault, OutcomeUnknown } from "./faults.ts";

/** Finds out whether a transaction whose COMMIT got no answer was committed. */
export interface CommitMarks {
  take(): CommitMark;
}

export interface CommitMark {
  /** Must be the last statement before the COMMIT. */
  set(tx: Tx): Promise<void>;
  /** False: the transaction has no effect, and never will. Throws `lost` when the outcome cannot be found out now. */
  isCommitted(lost: OutcomeUnknown): Promise<boolean>;
  /** Called when the transaction ended with an answer. */
  release(): void;
}

/** After this time the outcome stays unknown, and the caller retries. */
const searchMs = 10_000;
const lookMs = 100;
/** Marks of processes that ended are deleted after this time. */
const keptMs = 24 * 3_600_000;
const deletedMax = 100;

/**
 * Each transaction writes a number into a row that no concurrent transaction writes. Its session holds the lock on that
 * row until it commits or rolls back, so a reader that gets the lock sees the outcome.
 */
export function createCommitMarks(run: (text: string, values: readonly unknown[]) => Promise<unknown>): CommitMarks {
  const free: string[] = [];
  let last = 0;

  async function store(tx: Tx, id: string, value: number): Promise<void> {
    const now = Date.now();
    const update = CompiledQuery.raw("update commit_marks set value = ?, written_at = ? where id = ?", [
      value,
      now,
      id,
    ]);
    const { numAffectedRows } = await execute(tx, update);
    if (numAffectedRows === 1n) return;
    const old = await tx
      .selectFrom("commit_marks")
      .select("id")
      .where("written_at", "<", now - keptMs)
      .limit(deletedMax)
      .execute();
    // Deleted by id, since a scan would wait for transactions that hold other marks.
    if (old.length > 0) {
      const ids = old.map((each) => each.id);
      await tx
        .deleteFrom("commit_marks")
        .where("id", "in", ids)
        // A transaction may have reused a mark meanwhile.
        .where("written_at", "<", now - keptMs)
        .execute();
    }
    await tx.insertInto("commit_marks").values({ id, value, written_at: now }).execute();
  }

  async function find(id: string, value: number, lost: OutcomeUnknown): Promise<boolean> {
    const end = performance.now() + searchMs;
    for (;;) {
      try {
        const rows = await run("select value from commit_marks where id = ? for update nowait", [id]);
        return (rows as readonly { readonly value: number }[])[0]?.value === value;
      } catch (error) {
        // The lost session, which is being ended, holds the lock, or the server is away.
        if (!isDatabaseFault(error) || performance.now() > end) {
          throw new OutcomeUnknown(new AggregateError([lost.cause, error], "its commit mark could not be read"));
        }
        await delay(lookMs);
      }
    }
  }

  return {
    take() {
      const id = free.pop() ?? randomUUID();
      last += 1;
      const value = last;
      const release = (): void => void free.push(id);
      return {
        set: (tx) => store(tx, id, value),
        async isCommitted(lost) {
          const isCommitted = await find(id, value, lost);
          release();
          return isCommitted;
        },
        release,
      };
    },
  };
}

import { AsyncLocalStorage } from "node:async_hooks";

// Timers and promises that are started in a transaction inherit its context and outlive it. The context therefore records
// whether the transaction still runs.

interface Callback {
  readonly run: () => void;
  readonly failed: (error: unknown) => void;
}

interface TransactionContext {
  runs: boolean;
  readonly afterCommit: Callback[];
}

const context = new AsyncLocalStorage<TransactionContext>();

export const isInTransaction = (): boolean => context.getStore()?.runs === true;

/**
 * Calls `run` after the commit of the current transaction, outside of it; never after a rollback. `failed` gets errors of
 * `run`, which must not fail the write.
 */
export function afterCommit(run: () => void, failed: (error: unknown) => void): void {
  const current = context.getStore();
  if (current?.runs !== true) throw new Error("afterCommit was called outside of store.write");
  current.afterCommit.push({ run, failed });
}

/** Runs `work` by `commit`, which may repeat it, and calls the callbacks of the last run after the commit. */
export async function inTransaction<A, T>(
  work: (given: A) => Promise<T>,
  commit: (work: (given: A) => Promise<T>) => Promise<T>,
): Promise<T> {
  let callbacks: readonly Callback[] = [];
  const result = await commit(async (given) => {
    const current: TransactionContext = { runs: true, afterCommit: [] };
    callbacks = current.afterCommit;
    try {
      return await context.run(current, () => work(given));
    } finally {
      current.runs = false;
    }
  });
  for (const { run, failed } of callbacks) {
    try {
      run();
    } catch (error) {
      failed(error);
    }
  }
  return result;
}

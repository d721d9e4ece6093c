import { AsyncLocalStorage } from "node:async_hooks";

// Timers and promises that are started inside a transaction inherit its context, and outlive it. So the context says
// whether the transaction still runs: what runs later is outside.

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
 * Calls back when the transaction that this is called in has been committed, outside of it; never when it was undone.
 * `failed` gets what `run` throws: the write has succeeded by then.
 */
export function afterCommit(run: () => void, failed: (error: unknown) => void): void {
  const current = context.getStore();
  if (current?.runs !== true) throw new Error("afterCommit was called outside of store.write");
  current.afterCommit.push({ run, failed });
}

/** Commits `work` by `commit`, which may run it several times; what the last run left for the commit is called then. */
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

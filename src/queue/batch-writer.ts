import type { Store, Tx } from "#database/contract.ts";

interface PendingItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchWriterOptions<T, R> {
  readonly store: Pick<Store, "write">;
  /** Stores all items in few statements. Results have the items' order. Fails as a whole. */
  readonly all: (tx: Tx, items: readonly T[]) => Promise<readonly R[]>;
  /** Stores one item alone, after its batch has failed. */
  readonly alone: (tx: Tx, item: T) => Promise<R>;
  /** See {@link Store.write}. */
  readonly flush?: boolean;
}

const batchMax = 100;

/**
 * Stores items that wait for the database at the same time in one transaction. Each promise settles when its item is
 * committed. An item that fails does not fail the others.
 */
export function createBatchWriter<T, R>({
  store,
  all,
  alone,
  flush = true,
}: BatchWriterOptions<T, R>): (item: T) => Promise<R> {
  const waiting: PendingItem<T, R>[] = [];
  let asked = false;

  async function storeWaiting(): Promise<void> {
    let taken: readonly PendingItem<T, R>[] | undefined;
    let results: readonly R[];
    try {
      results = await store.write(
        (tx) => {
          // Taken when the transaction begins, to include late items. A repeated transaction gets the same items.
          taken ??= take();
          return taken.length === 0
            ? Promise.resolve([])
            : all(
                tx,
                taken.map(({ item }) => item),
              );
        },
        { flush },
      );
    } catch (error) {
      const failed = taken ?? take();
      askForRest();
      if (taken === undefined) for (const { reject } of failed) reject(error);
      else await Promise.all(failed.map((each) => storeAlone(each)));
      return;
    }
    askForRest();
    for (const [i, { resolve, reject }] of (taken ?? []).entries()) {
      if (i < results.length) resolve(results[i] as R);
      else reject(new Error("something was stored without a result"));
    }
  }

  function take(): readonly PendingItem<T, R>[] {
    const group = waiting.splice(0, batchMax);
    asked = false;
    return group;
  }

  /** Items beyond the batch size. Called after the transaction, because none can be requested inside another. */
  function askForRest(): void {
    if (waiting.length > 0) ask();
  }

  async function storeAlone({ item, resolve, reject }: PendingItem<T, R>): Promise<void> {
    try {
      resolve(await store.write((tx) => alone(tx, item), { flush }));
    } catch (error) {
      reject(error);
    }
  }

  function ask(): void {
    if (asked) return;
    asked = true;
    void storeWaiting();
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      ask();
    });
}

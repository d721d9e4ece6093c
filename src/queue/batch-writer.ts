import type { Store, Tx } from "#database/contract.ts";

interface PendingItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchWriterOptions<T, R> {
  readonly store: Pick<Store, "write">;
  /** Stores what many want stored, in few statements; the results in their order. Fails as a whole. */
  readonly all: (tx: Tx, items: readonly T[]) => Promise<readonly R[]>;
  /** Stores one, when it could not be stored with the others. */
  readonly alone: (tx: Tx, item: T) => Promise<R>;
  /** As with {@link Store.write}. */
  readonly flush?: boolean;
}

const batchMax = 100;

/**
 * Stores in one go what waits for the database at the same time: the more there is to do, the less each costs. The result
 * of each comes when it is stored, and what fails with one fails for that one alone.
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
          // Taken when the transaction begins, not when it was asked for; the same ones when it has to run again.
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

  /** Those that one transaction had no room for. Not as they are left over: inside of it no other can be asked for. */
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

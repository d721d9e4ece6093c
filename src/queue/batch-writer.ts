import type { Store, Tx } from "#database/contract.ts";

interface PendingItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchWriterOptions<T, R> {
  readonly store: Pick<Store, "write">;
  /**
   * Stores all items in few statements. Results have the items' order. Fails as a whole; it is then called for each item
   * alone.
   */
  readonly all: (tx: Tx, items: readonly T[]) => Promise<readonly R[]>;
  /** See {@link Store.write}. */
  readonly flush?: boolean;
  /** Begins no batch before the previous one is stored, so that items of different batches keep their order. */
  readonly inOrder?: boolean;
  /** Whether the item can be stored with these. If not, it joins a later batch. */
  readonly fits?: (item: T, batch: readonly T[]) => boolean;
  /** Called when a batch of several items has failed, before each is stored alone. */
  readonly onBatchFailed?: (error: unknown, items: number) => void;
  /** Whether an item that failed alone can succeed with another attempt. */
  readonly canRetry?: (error: unknown) => boolean;
}

const batchMax = 100;
const attemptsMax = 4;

/**
 * Stores items that wait for the database at the same time in one transaction. Each promise settles when its item is
 * committed. An item that fails does not fail the others.
 */
export function createBatchWriter<T, R>({
  store,
  all,
  flush = true,
  inOrder = false,
  fits = () => true,
  onBatchFailed,
  canRetry = () => false,
}: BatchWriterOptions<T, R>): (item: T) => Promise<R> {
  const waiting: PendingItem<T, R>[] = [];
  /** A transaction is requested and has not taken its items yet. */
  let requested = false;
  /** Batches that are not settled yet. */
  let storing = 0;

  /** Called after a transaction, too, because none can be requested inside another. */
  function request(): void {
    if (waiting.length === 0 || requested || (inOrder && storing > 0)) return;
    requested = true;
    storing += 1;
    void storeWaiting();
  }

  async function storeWaiting(): Promise<void> {
    let taken: readonly PendingItem<T, R>[] | undefined;
    try {
      const results = await store.write(
        async (tx) => {
          // Taken when the transaction begins, to include late items. A repeated transaction gets the same items.
          taken ??= take();
          if (taken.length === 0) return [];
          return all(
            tx,
            taken.map(({ item }) => item),
          );
        },
        { flush },
      );
      storing -= 1;
      request();
      for (const [i, pending] of (taken ?? []).entries()) settle(pending, results, i);
    } catch (error) {
      const failed = taken ?? take();
      request();
      if (taken === undefined) for (const { reject } of failed) reject(error);
      else {
        if (failed.length > 1) onBatchFailed?.(error, failed.length);
        await Promise.all(failed.map((each) => storeAlone(each)));
      }
      storing -= 1;
      request();
    }
  }

  function take(): readonly PendingItem<T, R>[] {
    requested = false;
    const batch: PendingItem<T, R>[] = [];
    const later: PendingItem<T, R>[] = [];
    const items: T[] = [];
    for (const each of waiting.splice(0, batchMax)) {
      if (!fits(each.item, items)) {
        later.push(each);
        continue;
      }
      batch.push(each);
      items.push(each.item);
    }
    waiting.unshift(...later);
    return batch;
  }

  async function storeAlone(pending: PendingItem<T, R>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        settle(pending, await store.write((tx) => all(tx, [pending.item]), { flush }), 0);
        return;
      } catch (error) {
        if (attempt < attemptsMax && canRetry(error)) continue;
        pending.reject(error);
        return;
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      request();
    });
}

function settle<T, R>({ resolve, reject }: PendingItem<T, R>, results: readonly R[], at: number): void {
  if (at < results.length) resolve(results[at] as R);
  else reject(new Error("something was stored without a result"));
}

import type { BatchWriterOptions } from "#queue/batch-writer.ts";

const attemptsMax = 4;

/** A write for each item. */
export function createBatchWriter<T, R>({
  store,
  all,
  flush = true,
  canRetry = () => false,
}: BatchWriterOptions<T, R>) {
  return async (item: T): Promise<R> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const results = await store.write((tx) => all(tx, [item]), { flush });
        return results[0] as R;
      } catch (error) {
        if (attempt >= attemptsMax || !canRetry(error)) throw error;
      }
    }
  };
}

import type { FindLocalWorker } from "./local-worker.ts";
import type { Store } from "#database/contract.ts";

const pollMs = 1;

/** Resolves when no write runs and no work on which a person waits, or after `maxMs` milliseconds. */
export function createWaitUntilIdle(
  store: Pick<Store, "isCalm">,
  localWorker: FindLocalWorker,
): (maxMs: number) => Promise<void> {
  const isIdle = (): boolean => store.isCalm() && localWorker()?.isBusy() !== true;
  return async (maxMs) => {
    const end = performance.now() + maxMs;
    while (!isIdle() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, pollMs));
  };
}

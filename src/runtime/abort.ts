import type { Clock } from "./clock.ts";

/** Settles as `work` does, or rejects with the signal's reason as soon as it aborts. The work itself may go on. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Settles as `work` does, or rejects with `late()` after so many milliseconds. The work itself may go on. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after so many milliseconds; rejects with the signal's reason when it aborts. */
export function delay(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = clock.timer(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    function onAbort(): void {
      stop();
      reject(signal.reason as Error);
    }
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

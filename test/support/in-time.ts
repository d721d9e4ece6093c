import type { HandMovedClock } from "./hand-moved-clock.ts";

/** Moves the clock until the promise settles, and lets the network run between the steps. */
export async function inTime<T>(clock: HandMovedClock, promise: Promise<T>, stepMs = 250): Promise<T> {
  let settled = false;
  const done = (): void => {
    settled = true;
  };
  promise.then(done, done);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (settled) return promise;
    clock.advance(stepMs);
  }
}

import type { HandMovedClock } from "./hand-moved-clock.ts";

/** Moves the clock on, letting the network have its turn in between, until the promise is settled. */
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

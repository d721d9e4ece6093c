import type { Clock } from "#channel/contract.ts";

export interface HandMovedClock extends Clock {
  /** Moves the time on, and calls back what falls due on the way. */
  advance(ms: number): void;
}

/** A clock that stands still until it is moved. What is due at once is called back in the next turn. */
export function createHandMovedClock(start: number): HandMovedClock {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  return {
    now: () => now,
    timer(delayMs, callback) {
      if (delayMs <= 0) {
        const handle = setImmediate(callback);
        return () => clearImmediate(handle);
      }
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = end;
    },
  };
}

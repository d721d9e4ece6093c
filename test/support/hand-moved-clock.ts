import type { Clock } from "#runtime/clock.ts";

export interface HandMovedClock extends Clock {
  /** Moves the time on, and calls back what falls due on the way. */
  advance(ms: number): void;
  /** Moves the time on at once, as for a machine that slept: what fell due meanwhile is called back one time, late. */
  leap(ms: number): void;
  /** Puts the time back, as an operator or the network's time does. Timers go on: they count what passes. */
  putBack(ms: number): void;
  /** How many timers are set. What has come to rest until the clock moves on has set all of its own again. */
  waiting(): number;
}

/** A clock that stands still until it is moved. What is due at once is called back in the next turn. */
export function createHandMovedClock(start: number): HandMovedClock {
  let now = start;
  const timers = new Set<{ at: number; readonly callback: () => void }>();

  return {
    now: () => now,
    waiting: () => timers.size,
    timer(delayMs, callback) {
      if (delayMs <= 0) {
        const handle = setImmediate(callback);
        return () => clearImmediate(handle);
      }
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    putBack(ms) {
      now -= ms;
      for (const timer of timers) timer.at -= ms;
    },
    leap(ms) {
      now += ms;
      const due = [...timers].filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at);
      for (const timer of due) {
        timers.delete(timer);
        timer.callback();
      }
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

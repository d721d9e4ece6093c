import type { Clock } from "#runtime/clock.ts";

export interface HandMovedClock extends Clock {
  /** Moves the time on and runs each timer at its due time. */
  advance(ms: number): void;
  /** Moves the time on in one step, as on a suspended machine: each due timer runs once, late. */
  leap(ms: number): void;
  /** Sets the time back, as an administrator or NTP does. Timers are not delayed by it: they measure elapsed time. */
  putBack(ms: number): void;
  /** The number of timers that are set. A program that is idle has set all of its timers again. */
  waiting(): number;
}

interface Timer {
  at: number;
  readonly callback: () => void;
}

/** A clock that only moves by hand. Timers without a delay run in the next turn of the event loop. */
export function createHandMovedClock(start: number): HandMovedClock {
  let now = start;
  const timers = new Set<Timer>();

  /** Some tests move on by months, with a timer for each second: nothing is copied or sorted. */
  function first(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of timers) if (earliest === undefined || timer.at < earliest.at) earliest = timer;
    return earliest;
  }

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
        const next = first();
        if (next === undefined || next.at > end) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = end;
    },
  };
}

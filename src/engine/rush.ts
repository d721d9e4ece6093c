import type { Rush } from "./ports.ts";

export interface RushGauge extends Rush {
  /** An event has come, and its sender waits until this has ended. */
  during<T>(accept: () => Promise<T>): Promise<T>;
}

/** While as many wait at the same time, this process does not keep up with them. */
const waitingLeast = 16;
/**
 * Whoever sends one event after the other sends the next when the one before is acknowledged. Shorter than a person
 * would notice, and longer than that takes.
 */
const quietMs = 2;

/** Tells a rush from how many senders wait, and its end from none waiting and none coming any more. */
export function createRush(): RushGauge {
  const listeners: (() => void)[] = [];
  let on = false;
  let waiting = 0;
  let arrivals = 0;

  function watch(): void {
    const before = arrivals;
    // The timer may be late, with events in the sockets that nobody has read yet: they are when the loop has gone round.
    setTimeout(() => setImmediate(() => (waiting === 0 && arrivals === before ? end() : watch())), quietMs);
  }

  function end(): void {
    on = false;
    for (const listener of listeners) listener();
  }

  return {
    isOn: () => on,
    onEnd(listener) {
      listeners.push(listener);
    },
    async during(accept) {
      arrivals += 1;
      waiting += 1;
      if (!on && waiting >= waitingLeast) {
        on = true;
        watch();
      }
      try {
        return await accept();
      } finally {
        waiting -= 1;
      }
    },
  };
}

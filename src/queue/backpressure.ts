/** Whether so many events come at once that their senders wait, and everything that can wait gives way to storing them. */
export interface InboundBurst {
  isOn(): boolean;
  /** Called each time that it is over. */
  onEnd(listener: () => void): void;
}

export interface InboundBurstGauge extends InboundBurst {
  /** An event has come, and its sender waits until this has ended. */
  during<T>(accept: () => Promise<T>): Promise<T>;
}

/** While as many wait at the same time, this process does not keep up with them. */
const waitingLeast = 16;
/** It does while fewer wait all the time, as of steady traffic always some do. */
const waitingStill = 8;
/**
 * Whoever sends one event after the other sends the next when the one before is acknowledged. Shorter than a person
 * would notice, and longer than that takes.
 */
const quietMs = 2;
/** What goes on for longer is no rush: it is how much there is to do, and the rest of the work is part of it. */
const longestMs = 2_000;
/** After one that long. */
const pauseMs = 10_000;

/** Tells a rush from how many senders wait, and its end from few waiting and few coming any more. */
export function createInboundBurst(now: () => number = () => performance.now()): InboundBurstGauge {
  const listeners: (() => void)[] = [];
  let on = false;
  let waiting = 0;
  /** As many as waited at the same time since the last look. */
  let most = 0;
  let began = 0;
  let notBefore = Number.NEGATIVE_INFINITY;

  function watch(): void {
    most = waiting;
    // The timer may be late, with events in the sockets that nobody has read yet: they are when the loop has gone round.
    setTimeout(() => setImmediate(look), quietMs);
  }

  function look(): void {
    const isLong = now() - began >= longestMs;
    if (most >= waitingStill && !isLong) {
      watch();
      return;
    }
    if (isLong) notBefore = now() + pauseMs;
    on = false;
    for (const listener of listeners) listener();
  }

  return {
    isOn: () => on,
    onEnd(listener) {
      listeners.push(listener);
    },
    async during(accept) {
      waiting += 1;
      most = Math.max(most, waiting);
      if (!on && waiting >= waitingLeast && now() >= notBefore) {
        on = true;
        began = now();
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

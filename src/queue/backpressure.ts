/** A burst of inbound events: while it is on, ingest comes first and queued work waits. */
export interface InboundBurst {
  isOn(): boolean;
  /** The listener is called at the end of each burst. */
  onEnd(listener: () => void): void;
}

export interface InboundBurstGauge extends InboundBurst {
  /** Wraps the ingest of one event. Its sender waits until the promise settles. */
  during<T>(accept: () => Promise<T>): Promise<T>;
}

/** A burst begins when this many senders wait at the same time. */
const waitingLeast = 16;
/** A burst ends when fewer than this wait. Steady traffic always has a few. */
const waitingStill = 8;
/**
 * A sender that sends one event at a time sends the next after the acknowledgement. This interval is longer than that
 * takes, and too short for a person to notice.
 */
const quietMs = 2;
/** Longest burst. Longer traffic is the normal load, and queued work is part of it. */
const longestMs = 2_000;
/** Pause after a burst of that length, before another can begin. */
const pauseMs = 10_000;

/** Detects bursts by the number of waiting senders. `now` is in milliseconds. */
export function createInboundBurst(now: () => number = () => performance.now()): InboundBurstGauge {
  const listeners: (() => void)[] = [];
  let on = false;
  let waiting = 0;
  /** Most senders that waited at the same time since the last look. */
  let most = 0;
  let began = 0;
  let notBefore = Number.NEGATIVE_INFINITY;

  function watch(): void {
    most = waiting;
    // The timer may be late while sockets hold unread events; setImmediate runs after they are read.
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

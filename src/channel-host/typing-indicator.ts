import type { Clock } from "#runtime/clock.ts";

/** Answers ready sooner show no indicator: each call counts against the platform's rate limit. */
const afterMs = 250;
/** Limits the indicator if `end` is never called. */
const untilMs = 60_000;

export interface TypingIndicators {
  /**
   * Calls `show` after a short delay, and again every `lastsMs` (the platform's own expiry; undefined: once). Ends the
   * previous indicator of the key. Returns a function that ends this one.
   */
  begin(key: string, lastsMs: number | undefined, show: () => void): () => void;
  /** Called when a message was sent to the thread. */
  end(key: string): void;
  /** Stops every timer. */
  close(): void;
}

/** Shows typing indicators on platforms while an answer is prepared. */
export function createTypingIndicators(clock: Pick<Clock, "now" | "timer">): TypingIndicators {
  const ends = new Map<string, () => void>();

  return {
    begin(key, lastsMs, show) {
      ends.get(key)?.();
      const begun = clock.now();
      let stop = clock.timer(afterMs, again);
      ends.set(key, end);
      return end;

      function again(): void {
        show();
        if (lastsMs !== undefined && clock.now() - begun < untilMs) stop = clock.timer(lastsMs, again);
        else ends.delete(key);
      }
      function end(): void {
        stop();
        if (ends.get(key) === end) ends.delete(key);
      }
    },
    end: (key) => ends.get(key)?.(),
    close: () => [...ends.values()].forEach((end) => end()),
  };
}

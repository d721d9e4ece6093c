import type { Clock } from "#runtime/clock.ts";

/** Each call of a platform counts against what it allows, and nobody sees what is over sooner. */
const afterMs = 250;
/** However long an answer takes, or whether anybody tells that it is over: then somebody else has it. */
const untilMs = 60_000;

export interface TypingIndicators {
  /**
   * Calls `show` in a moment, and again before the platform takes it away; `lastsMs`: after which it does, if by itself.
   * The end of it. What was begun for the same key before is over.
   */
  begin(key: string, lastsMs: number | undefined, show: () => void): () => void;
  /** Something was said there. */
  end(key: string): void;
  /** Nothing of it runs any more. */
  close(): void;
}

/** That an answer is being made, as platforms show it. */
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

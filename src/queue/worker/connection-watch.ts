import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";

/** Keeps the worker running while the database is away. */
export interface ConnectionWatch {
  /** Never rejects. Logs an outage once, and its end once. */
  guard(run: () => Promise<void>): Promise<void>;
  /** The same, again and again until the returned function is called. */
  repeat(everyMs: number, run: () => Promise<void>): () => void;
  isFailing(): boolean;
}

export function createConnectionWatch(clock: Clock, log: Log): ConnectionWatch {
  let failing = false;

  async function guard(run: () => Promise<void>): Promise<void> {
    try {
      await run();
      if (failing) log.info({}, "outbox: database connection restored");
      failing = false;
    } catch (error) {
      if (!failing) log.error({ err: error }, "outbox: database unreachable, retrying");
      failing = true;
    }
  }

  return {
    guard,
    repeat(everyMs, run) {
      let stop = clock.timer(everyMs, tick);
      let stopped = false;
      function tick(): void {
        void guard(run).finally(() => {
          if (!stopped) stop = clock.timer(everyMs, tick);
        });
      }
      return () => {
        stopped = true;
        stop();
      };
    },
    isFailing: () => failing,
  };
}

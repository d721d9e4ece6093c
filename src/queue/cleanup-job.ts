import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";

const everyMs = 600_000;

/**
 * Runs this process's own jobs every ten minutes until it is closed. Jobs of the whole installation belong in the
 * outbox.
 */
export function openCleanupJob({
  clock,
  log,
  jobs,
}: {
  readonly clock: Clock;
  readonly log: Log;
  /** Run one after the other. The keys are their names in the log. */
  readonly jobs: Readonly<Record<string, () => Promise<unknown>>>;
}): { close(): Promise<void> } {
  let running: Promise<void> | undefined;
  let closed = false;
  let stop = clock.timer(everyMs, tick);

  function tick(): void {
    running = runAll().finally(() => {
      if (!closed) stop = clock.timer(everyMs, tick);
    });
  }

  async function runAll(): Promise<void> {
    for (const [job, run] of Object.entries(jobs)) {
      try {
        await run();
      } catch (err) {
        log.warn({ err, job }, "cleanup: job failed, retrying");
      }
    }
  }

  return {
    async close() {
      closed = true;
      stop();
      await running;
    },
  };
}

import type { Clock, Log } from "#engine/ports.ts";

const everyMs = 600_000;

/** Does what has to be done now and then, for as long as it is open. */
export function openHousekeeping({
  clock,
  log,
  run,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly run: () => Promise<unknown>;
}): { close(): Promise<void> } {
  let running: Promise<void> | undefined;
  let closed = false;
  let stop = clock.timer(everyMs, tick);

  function tick(): void {
    running = run()
      .then(
        () => undefined,
        (err: unknown) => log.warn({ err }, "tidying up failed, and is tried again later"),
      )
      .finally(() => {
        if (!closed) stop = clock.timer(everyMs, tick);
      });
  }

  return {
    async close() {
      closed = true;
      stop();
      await running;
    },
  };
}

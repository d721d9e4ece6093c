import type { Clock, Log } from "#engine/ports.ts";

const everyMs = 600_000;

/**
 * Does what a process has to do every ten minutes, for as long as it is open. What is done once for the whole
 * installation is work of the outbox.
 */
export function openNowAndThen({
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
        (err: unknown) => log.warn({ err }, "what is done now and then failed, and is tried again later"),
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

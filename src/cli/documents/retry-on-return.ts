import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import { damageIn } from "#database/damage.ts";
import { isDatabaseFault } from "#database/faults.ts";

const retryMinMs = 1_000;
const retryMaxMs = 10_000;

export interface Stopping {
  /** Resolves with the exit status after a signal, once everything has been closed. */
  readonly stopped: Promise<number>;
  readonly isStopping: () => boolean;
}

/** Retries a step of the first start while the database is down. The server listens meanwhile and reports not ready. */
export async function onceBack<T>(
  step: () => Promise<T>,
  { clock, log, stopping }: { readonly clock: Clock; readonly log: Pick<Log, "warn">; readonly stopping: Stopping },
): Promise<T> {
  const { stopped, isStopping } = stopping;
  for (let waitMs = retryMinMs; ; waitMs = Math.min(waitMs * 2, retryMaxMs)) {
    try {
      return await step();
    } catch (error) {
      // A retry does not repair a damaged file.
      if (!isDatabaseFault(error) || damageIn(error) !== undefined || isStopping()) throw error;
      log.warn({ err: error, againInMs: waitMs }, "start: database unavailable, retrying");
      const waited = Promise.withResolvers<void>();
      const cancel = clock.timer(waitMs, waited.resolve);
      await Promise.race([waited.promise, stopped]);
      cancel();
      if (isStopping()) throw error;
    }
  }
}

import type { Clock } from "#runtime/clock.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Log } from "#runtime/log.ts";
import type { Config } from "#config/environment.ts";
import type { OpenWake } from "#queue/signals/in-process.ts";
import { createInProcessFanout, createInProcessWake } from "#queue/signals/in-process.ts";

export interface Signals {
  readonly wake: OpenWake;
  readonly fanout: Fanout;
  /** Says why Redis cannot be used, or null. Absent without Redis. */
  state?(): Promise<string | null>;
}

/** Signals within this process, or between processes over Redis. */
export async function openSignals(
  { redisUrl }: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Signals> {
  if (redisUrl === undefined) return { wake: createInProcessWake(), fanout: createInProcessFanout(log) };
  const { openRedisSignals } = await import("#queue/signals/redis.ts");
  return openRedisSignals({ url: redisUrl, clock, log });
}

import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";

const lanesMax = 1_000;
/** Waiting work is retried more often than this. A failure after a longer gap is a new outage. */
const outageMs = 120_000;

/** Tracks servers that are away and the lanes that wait for them, so that each outage is logged once, and its end once. */
export type Outages = ReturnType<typeof createOutages>;

export function createOutages(clock: Clock, log: Log) {
  const away = new Map<string, { readonly lanes: Set<string>; readonly failedAt: number }>();

  /** Returns whether this outage was logged already, and records that the lane waits for the server. */
  function isKnown(server: string | undefined, lane: string | undefined): boolean {
    if (server === undefined || lane === undefined) return false;
    const now = clock.now();
    const before = away.get(server);
    // Another process may have done the waiting work; this one is not notified.
    const isSame = before !== undefined && now - before.failedAt < outageMs;
    const lanes = isSame ? before.lanes : new Set<string>();
    if (lanes.size < lanesMax) lanes.add(lane);
    away.set(server, { lanes, failedAt: now });
    return isSame;
  }

  /** Called when work of this lane succeeded. */
  function over(lane: string): void {
    for (const [server, { lanes }] of away) {
      if (!lanes.has(lane)) continue;
      away.delete(server);
      log.info({ lane, server }, "outbox: server available again, resuming its work");
    }
  }

  return { isKnown, over };
}

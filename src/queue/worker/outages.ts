import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";

const lanesMax = 1_000;
/** Work that waits for a server is tried more often than that: what fails after it is another outage. */
const outageMs = 120_000;

/** Servers of ours that are away, and the lanes that wait for them: each outage is told once, and once that it is over. */
export function createOutages(clock: Clock, log: Log) {
  const away = new Map<string, { readonly lanes: Set<string>; readonly failedAt: number }>();

  /** Whether it was told already that the server is away which work of this lane needs. */
  function isKnown(server: string | undefined, lane: string | undefined): boolean {
    if (server === undefined || lane === undefined) return false;
    const now = clock.now();
    const before = away.get(server);
    // What waited for it may have been done by another process, of which nobody is told here.
    const isSame = before !== undefined && now - before.failedAt < outageMs;
    const lanes = isSame ? before.lanes : new Set<string>();
    if (lanes.size < lanesMax) lanes.add(lane);
    away.set(server, { lanes, failedAt: now });
    return isSame;
  }

  /** Work of this lane has been done. */
  function over(lane: string): void {
    for (const [server, { lanes }] of away) {
      if (!lanes.has(lane)) continue;
      away.delete(server);
      log.info({ lane, server }, "outbox: server available again, resuming its work");
    }
  }

  return { isKnown, over };
}

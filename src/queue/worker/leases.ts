import type { Clock } from "#runtime/clock.ts";

export interface Lease {
  readonly id: string;
  readonly until: number;
}

/** Leases of this process. Each has its own end time, since rows that were claimed at once are distinguished by it. */
export function createLeases(clock: Clock, processId: string, leaseMs: number): () => Lease {
  let newest = 0;
  return () => {
    const until = clock.now() + leaseMs;
    // After a clock was put back, leases must not follow the old, later time.
    const isOfNow = Math.abs(until - newest) < leaseMs;
    newest = isOfNow ? Math.max(until, newest + 1) : until;
    return { id: processId, until: newest };
  };
}

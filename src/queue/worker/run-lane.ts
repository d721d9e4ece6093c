import { randomUUID } from "node:crypto";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { claimLanes, deferWork, releaseLeases, renewLeases } from "#database/queries/outbox.ts";
import type { WorkTable } from "#queue/work-table.ts";

export interface RunLaneOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly works: WorkTable;
}

const leaseMs = 15_000;
const retryMs = 1_000;

/**
 * Does what is due in one lane, for a command that waits for it. False: nothing is due, or another process has it, or is
 * the only one that can do it. Rejects with what the work failed of; it is then left to the worker.
 */
export async function runLane({ store, clock, works }: RunLaneOptions, lane: string): Promise<boolean> {
  const id = `command-${randomUUID()}`;
  const lease = () => ({ id, until: clock.now() + leaseMs });
  const rows = await store.write((tx) => claimLanes(tx, [lane], lease(), clock.now(), works.unordered));
  if (rows.length === 0) return false;
  const abort = new AbortController();
  const renewal = setInterval(() => {
    store
      .write((tx) => renewLeases(tx, [lane], lease()))
      .catch((cause: unknown) => {
        abort.abort(new Error("the database cannot be reached", { cause }));
      });
  }, leaseMs / 3);
  let isAnyDone = false;
  try {
    for (const row of rows) {
      const declaration = works.get(row.kind);
      const work = works.read(row);
      if (declaration === undefined || work === undefined) break;
      try {
        await declaration.run([work], abort.signal);
        isAnyDone = true;
      } catch (error) {
        const now = clock.now();
        const reason = error instanceof Error ? error.message : "unknown failure";
        const unordered = works.unordered.has(row.kind);
        const outcome = { dueAt: now + retryMs, error: reason, dead: false, unordered, now };
        await store.write((tx) => deferWork(tx, row, outcome));
        throw error;
      }
    }
  } finally {
    clearInterval(renewal);
    await store.write((tx) => releaseLeases(tx, [id]));
  }
  return isAnyDone;
}

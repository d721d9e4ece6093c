import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import { deleteOldEvents } from "#database/queries/webhooks.ts";
import { dayMs } from "./retry.ts";

const kind = "forget-events";
const keptMs = 30 * dayMs;
const everyMs = dayMs;
/** Deleted in one transaction: who waits for an acknowledgement goes in between. */
const step = 500;
const stepsMax = 20;

interface RetentionDependencies {
  readonly store: Store;
  readonly clock: Clock;
}

/** Makes sure that old events are deleted once a day: the work puts itself in again. */
export async function scheduleRetention({ store, clock }: RetentionDependencies): Promise<void> {
  await store.write(async (tx) => {
    const there = await tx.selectFrom("outbox").select("id").where("lane", "=", kind).executeTakeFirst();
    const now = clock.now();
    if (there === undefined) await insertWork(tx, [{ lane: kind, kind, payload: {}, dueAt: now + everyMs }], now);
  });
}

/** Deletes events, and the log of sending them, that are older than 30 days. */
export async function forgetEvents(
  { store, clock }: RetentionDependencies,
  rows: readonly OutboxRow[],
  signal: AbortSignal,
): Promise<void> {
  let more = true;
  for (let steps = 0; more && steps < stepsMax && !signal.aborted; steps += 1) {
    more = await deleteOldEvents(store, clock.now() - keptMs, step);
  }
  await store.write(async (tx) => {
    await finishWork(tx, rows);
    const now = clock.now();
    await insertWork(tx, [{ lane: kind, kind, payload: {}, dueAt: more ? now + 1_000 : now + everyMs }], now);
  });
}

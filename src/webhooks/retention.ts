import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { Type } from "typebox";
import type { Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import { deleteOldEvents } from "#database/queries/webhooks.ts";
import { dayMs } from "./retry.ts";

/** The installation has a single row of this kind. */
const retentionKind = workKind("forget-events", Type.Object({}));
const lane = retentionKind.kind;
const keptMs = 30 * dayMs;
const everyMs = dayMs;
/** Rows per transaction, so that writes that customers wait for come in between. */
const step = 500;
const stepsMax = 20;

interface RetentionDependencies {
  readonly store: Store;
  readonly clock: Clock;
}

/** Schedules the daily deletion of old events; the work queues itself again. */
export async function scheduleRetention({ store, clock }: RetentionDependencies): Promise<void> {
  await store.write(async (tx) => {
    const queued = tx.selectFrom("outbox").select("id").where("lane", "=", lane).where("dead_at", "is", null);
    const there = await queued.executeTakeFirst();
    const now = clock.now();
    if (there === undefined) await insertWork(tx, [retentionKind.queued(lane, {}, now + everyMs)], now);
  });
}

/** Deletes events older than 30 days, and the log of their delivery. */
export function declareEventRetention({ store, clock }: RetentionDependencies): WorkDeclaration {
  return declareWork(retentionKind, { batch: true, attemptsMax: Number.POSITIVE_INFINITY, run });

  async function run(rows: readonly Work[], signal: AbortSignal): Promise<void> {
    let more = true;
    for (let steps = 0; more && steps < stepsMax && !signal.aborted; steps += 1) {
      more = await deleteOldEvents(store, clock.now() - keptMs, step);
    }
    await store.write(async (tx) => {
      await finishWork(tx, rows);
      const now = clock.now();
      await insertWork(tx, [retentionKind.queued(lane, {}, more ? now + 1_000 : now + everyMs)], now);
    });
  }
}

import type { Store, Tx } from "#database/contract.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import { lanesWithLaterWork, rescheduleWork } from "#database/queries/outbox.ts";
import { turnLane } from "#queue/lanes.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Wake } from "#runtime/signals.ts";

/** A customer who keeps writing fragments gets an answer after this time. */
export const waitMaxMs = 5_000;
/** Between two signs that the customer types. */
const typingMs = 2_500;

/** The answers to unfinished messages wait as long as the answer to the newest message. By lane. */
export async function rescheduleTurns(tx: Tx, dueTimes: ReadonlyMap<string, number>): Promise<void> {
  for (const [dueAt, lanes] of Map.groupBy(dueTimes.keys(), (lane) => dueTimes.get(lane) ?? 0)) {
    await rescheduleWork(tx, lanes, dueAt, waitMaxMs);
  }
}

/** Called while a customer types. Delays the answer to an unfinished message; other answers are left alone. */
export async function holdUnfinished(
  { store, clock, wake }: { readonly store: Store; readonly clock: Clock; readonly wake: Wake },
  accountId: string,
  thread: string,
): Promise<void> {
  const lanes = (await openConversations(store, { accountId, thread })).map(({ id }) => turnLane(id));
  const now = clock.now();
  const held = await lanesWithLaterWork(store, lanes, now);
  if (held.length === 0) return;
  await store.write((tx) => rescheduleWork(tx, held, now + typingMs, waitMaxMs), { flush: false });
  wake.notify(held, now + typingMs);
}

const openConversations = prepareRead(
  (db, { accountId, thread }: { readonly accountId: string; readonly thread: string }) =>
    db
      .selectFrom("conversations")
      .select("id")
      .where("account_id", "=", accountId)
      .where("context_key", "=", thread)
      .where("status", "=", "open"),
);

import { insertWork } from "#database/queries/outbox.ts";
import type { Store } from "#database/contract.ts";
import type { Clock } from "#runtime/clock.ts";

export interface GivenUpWork {
  readonly lane: string;
  readonly kind: string;
  readonly payload: unknown;
  /** The reason; absent: the platform has refused it. */
  readonly error?: string;
}

/** Stores work as it is after its last attempt. Returns its id, as the overview has it. */
export async function addDeadLetter(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { lane, kind, payload, error = "refused" }: GivenUpWork,
): Promise<string> {
  const now = clock.now();
  return store.write(async (tx) => {
    await insertWork(tx, [{ lane, kind, payload, dueAt: now }], now);
    const added = tx
      .selectFrom("outbox")
      .select((eb) => eb.fn.max("id").as("id"))
      .where("lane", "=", lane);
    const { id } = await added.where("kind", "=", kind).executeTakeFirstOrThrow();
    const dead = { dead_at: now, attempts: 20, last_error: error };
    await tx.updateTable("outbox").set(dead).where("id", "=", id).execute();
    return String(id);
  });
}

/** Work for a conversation that can always be tried again. */
export const indexingOf = (conversationId: string): GivenUpWork => ({
  lane: "index",
  kind: "index",
  payload: { conversationIds: [conversationId] },
});

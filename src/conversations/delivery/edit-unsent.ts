import { LostLease } from "#database/queries/outbox.ts";
import type { DeliveriesTable } from "#database/schema/tables.ts";
import { waitingEdits, lastOf, partsOf, storeEdit } from "./reply-edits.ts";
import type { DeliverDependencies } from "./deliver-dependencies.ts";
import type { Tx } from "#database/contract.ts";

/**
 * Applies a waiting edit to a reply of which no part was sent. On channels that cannot edit sent messages, this is the
 * last moment. Called in the lane of the sends, so no other worker sends the reply meanwhile. Resolves with true if the
 * queued parts have changed. The conversation stores the edit when the edit's own work runs, after the send. A later edit
 * is refused there, and its author is notified.
 */
export async function editUnsentReply(
  dependencies: DeliverDependencies,
  { message_id: messageId, conversation_id: conversationId }: Pick<DeliveriesTable, "message_id" | "conversation_id">,
): Promise<boolean> {
  const { store, clock, search, publishEffects } = dependencies;
  const waiting = await waitingEdits(store.read, conversationId);
  const amendment = lastOf(waiting.flatMap((each) => (each.amendment.messageId === messageId ? [each.amendment] : [])));
  if (amendment === undefined) return false;
  const message = await store.read
    .selectFrom("messages")
    .innerJoin("conversations", "conversations.id", "messages.conversation_id")
    .selectAll("messages")
    .select(["conversations.account_id", "conversations.channel"])
    .where("messages.id", "=", messageId)
    .executeTakeFirst();
  const deliveries = await store.read
    .selectFrom("deliveries")
    .select(["id", "payload", "state", "thread"])
    .where("message_id", "=", messageId)
    .orderBy("part")
    .execute();
  const isUnsent = deliveries.every(({ state, thread }) => state === "queued" && thread === null);
  if (message === undefined || !isUnsent) return false;
  const { content } = amendment;
  if (content === null) {
    publishEffects(
      await store.write(async (tx) => {
        for (const { id } of deliveries) await changeQueued(tx, id, null);
        return storeEdit(tx, search, amendment, clock.now());
      }),
    );
    return true;
  }
  const parts = await partsOf(dependencies, message, { id: message.account_id }, content);
  const payloads = parts.map((part) => JSON.stringify(part));
  const isSame = payloads.length === deliveries.length && deliveries.every(({ payload }, i) => payload === payloads[i]);
  // More parts than are queued: the reply is sent unchanged, and its author is notified.
  if (isSame || payloads.length > deliveries.length) return false;
  await store.write(async (tx) => {
    for (const [i, { id }] of deliveries.entries()) await changeQueued(tx, id, payloads[i] ?? null);
  });
  return true;
}

/** Rejects with {@link LostLease} if the part is no longer queued: another worker sends it. */
async function changeQueued(tx: Tx, id: string, payload: string | null): Promise<void> {
  const found = await tx.selectFrom("deliveries").select("state").where("id", "=", id).executeTakeFirst();
  if (found?.state !== "queued") throw new LostLease();
  if (payload === null) await tx.deleteFrom("deliveries").where("id", "=", id).execute();
  else await tx.updateTable("deliveries").set({ payload }).where("id", "=", id).execute();
}

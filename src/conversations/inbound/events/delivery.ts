import type { Selectable } from "kysely";
import type { Tx } from "#database/contract.ts";
import type { DeliveriesTable, DeliveryState } from "#database/schema/tables.ts";
import { noteFailure } from "#conversations/delivery/failures.ts";
import { rerouteWork } from "#conversations/work/reroute-work.ts";
import { syncAlso } from "#conversations/work/desk-sync-work.ts";
import { rank } from "#conversations/delivery/delivery-states.ts";
import type { EventHandler, IngestBatch } from "../batch.ts";
import type { EventOf } from "#channels/inbound-event.ts";
import { noResult } from "../incoming-event.ts";

type DeliveryReport = EventOf<"delivery">;
type DeliveryRow = Selectable<DeliveriesTable>;

/** States of a part that may or may not have arrived. */
const unsettled: ReadonlySet<DeliveryState> = new Set(["sending", "unknown"]);

/** Applies the platform's report on a sent part. Reports arrive late and out of order; the furthest state wins. */
export const ingestDelivery: EventHandler<"delivery"> = async (batch, { account, event }) => {
  for (const delivery of await deliveriesOf(batch.tx, account.id, event)) {
    if (event.state === "sent") {
      if (unsettled.has(delivery.state)) await applyReport(batch, delivery, event);
      continue;
    }
    const isNew = await storeReport(batch.tx, delivery.id, event);
    if (isNew && rank[event.state] > rank[delivery.state]) await applyReport(batch, delivery, event);
  }
  return noResult;
};

async function deliveriesOf(tx: Tx, accountId: string, { partKey, partExternalId }: DeliveryReport) {
  const ofAccount = tx.selectFrom("deliveries").selectAll().where("account_id", "=", accountId);
  if (partKey === undefined) return ofAccount.where("external_id", "=", partExternalId).execute();
  return ofAccount
    .where("id", "=", partKey)
    .where((eb) => eb.or([eb("external_id", "is", null), eb("external_id", "=", partExternalId)]))
    .execute();
}

async function storeReport(tx: Tx, deliveryId: string, { state, sentAt: at }: DeliveryReport): Promise<boolean> {
  const stored = await tx
    .selectFrom("receipts")
    .select("state")
    .where("delivery_id", "=", deliveryId)
    .where("state", "=", state)
    .executeTakeFirst();
  if (stored !== undefined) return false;
  await tx.insertInto("receipts").values({ delivery_id: deliveryId, state, at }).execute();
  return true;
}

async function applyReport({ tx, changes, now }: IngestBatch, delivery: DeliveryRow, event: DeliveryReport) {
  const { state, partExternalId, error } = event;
  await tx
    .updateTable("deliveries")
    .set({ state, error: error ?? delivery.error, settled_at: now, external_id: partExternalId })
    .where("id", "=", delivery.id)
    .execute();
  const { conversation_id: conversationId, message_id: messageId } = delivery;
  const sync = await syncAlso(tx, conversationId, [{ kind: "fate", id: messageId }], now);
  if (sync !== null) changes.addWork(sync);
  if (state !== "failed") return;
  if (event.windowClosed === true && (await isOwn(tx, delivery))) {
    changes.addWork(rerouteWork({ conversationId, messageId, reason: error ?? "" }, now));
  } else {
    await noteFailure(tx, changes, delivery, error ?? "the platform reported a failure");
  }
}

/** Whether the part was sent through the conversation's own account. */
async function isOwn(tx: Tx, delivery: DeliveryRow): Promise<boolean> {
  const row = await tx
    .selectFrom("conversations")
    .select("account_id")
    .where("id", "=", delivery.conversation_id)
    .executeTakeFirst();
  return row?.account_id === delivery.account_id;
}

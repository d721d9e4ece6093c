import type { DeliverDependencies } from "./deliver-dependencies.ts";
import type { Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { RetryLater } from "#queue/retry-later.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow } from "#database/work.ts";
import type { SendWork } from "#conversations/transaction/effects/send-plan.ts";
import { sendKind } from "#conversations/transaction/effects/send-plan.ts";
import { LostLease, finishWork, isHeld } from "#database/queries/outbox.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import type { DeliveriesTable } from "#database/schema/tables.ts";
import type { DeliveryToSend } from "./delivery-outcome.ts";
import { abandonDelivery, dropSeenPart, storeFailure, storeReceipt, storeUndelivered } from "./delivery-outcome.ts";
import { requireRunning, waitsForResumption } from "./paused.ts";
import { editUnsentReply } from "./edit-unsent.ts";
import type { Reader } from "#database/contract.ts";
import { storedBytes } from "#conversations/attachments/stored-bytes.ts";

export function declareSend(dependencies: DeliverDependencies): WorkDeclaration {
  return declareWork(sendKind, {
    // More than two hours, so that a platform that is away for an hour loses no message.
    attemptsMax: 24,
    ...waitsForResumption,
    run: eachRow((row, signal) => deliver(dependencies, row, signal)),
    async onAbandon(tx, row, reason, now) {
      const effects = await abandonDelivery(tx, dependencies, row, reason, now);
      return () => dependencies.publishEffects(effects);
    },
  });
}

/**
 * Sends one part of a message to the platform and stores the receipt. The state "sending" is stored before the call, so
 * that after a crash the part is known to be possibly sent. The next try then asks the platform, sends again if the
 * platform drops duplicates, or notifies the agents.
 */
async function deliver(dependencies: DeliverDependencies, row: SendWork, signal: AbortSignal): Promise<void> {
  const { store, channels, checkpoint, deliveryTracker } = dependencies;
  const { deliveryId } = row.payload;
  const [delivery] = await deliveryRows(store, { deliveryId, workId: row.id, leaseId: row.lease_id });
  const isBegun = deliveryTracker.takeBegun(row) && delivery?.state === "sending";
  // The conversation was deleted, or the part is settled: nothing is left to send.
  if (delivery === undefined || (delivery.state !== "queued" && delivery.state !== "sending")) {
    await store.write((tx) => finishWork(tx, [row]));
    return;
  }
  const isQueued = isBegun || delivery.state === "queued";
  if (isQueued && (await isSeen(store.read, delivery))) return dropSeenPart(dependencies, row, delivery);
  const account = { id: delivery.account_id };
  try {
    await channels.ready(account);
  } catch (error) {
    // A DeliveryError means that the account is gone. Other failures come from loading the adapter and are retried.
    if (!(error instanceof DeliveryError)) throw error;
    return storeFailure(dependencies, row, delivery, error);
  }
  await requireRunning(store.read, channels, account);
  const adapter = channels.adapter(account);
  // On a platform that cannot edit and delete, a sent reply is final.
  const isFinal = delivery.role === "agent" && (adapter.edit === undefined || adapter.remove === undefined);
  if (isFinal && isQueued && delivery.thread === null && (await editUnsentReply(dependencies, delivery))) {
    return deliver(dependencies, row, signal);
  }
  const part = JSON.parse(delivery.payload) as Part;
  const context = sendContextOf(dependencies, delivery, signal);
  if (!isQueued && !adapter.capabilities.idempotentSend) {
    const earlier = await reconcile(dependencies, delivery, part, context);
    if (earlier === "cannot_tell") return storeUndelivered(dependencies, row, delivery, "unknown", mayBeLost);
    if (earlier !== null) return storeReceipt(dependencies, row, delivery, earlier);
  }
  if (!isBegun) await begin(dependencies, row, delivery, isFinal);
  else if (Number(delivery.held) === 0) throw new LostLease();

  checkpoint("send.before");
  let receipt: Receipt;
  try {
    receipt = await channels.send(account, part, context);
  } catch (error) {
    return storeFailure(dependencies, row, delivery, error);
  }
  checkpoint("send.after");
  await storeReceipt(dependencies, row, delivery, receipt);
  checkpoint("send.marked");
}

const mayBeLost = "This message may not have arrived: the connection broke while it was being sent.";

interface DeliveryLookup extends Readonly<Record<string, string | number | null>> {
  readonly deliveryId: string;
  readonly workId: number;
  readonly leaseId: string | null;
}

const deliveryRows = prepareRead((db, { deliveryId, workId, leaseId }: DeliveryLookup) =>
  db
    .selectFrom("deliveries")
    .innerJoin("conversations", "conversations.id", "deliveries.conversation_id")
    .innerJoin("messages", "messages.id", "deliveries.message_id")
    .selectAll("deliveries")
    .select((eb) => [
      "conversations.context_key",
      "conversations.account_id as own_account_id",
      "messages.role",
      // Whether this process still holds the lease of the work.
      eb
        .exists(eb.selectFrom("outbox").select("id").where("id", "=", workId).where("lease_id", "=", leaseId))
        .as("held"),
    ])
    .where("deliveries.id", "=", deliveryId),
);

/** Whether the customer has read the part that this one repeats on another channel. */
async function isSeen(db: Reader, { unless_seen: repeatedId }: DeliveryToSend): Promise<boolean> {
  if (repeatedId === null) return false;
  const part = await db.selectFrom("deliveries").select("state").where("id", "=", repeatedId).executeTakeFirst();
  return part?.state === "read";
}

function sendContextOf(dependencies: DeliverDependencies, delivery: DeliveryToSend, signal: AbortSignal): SendContext {
  return {
    thread: delivery.thread ?? delivery.context_key,
    key: delivery.id,
    messageId: delivery.message_id,
    signal,
    file: (id) => storedBytes(dependencies, { message_id: delivery.message_id }, id),
    fileLink: (id, lifetimeMs) => dependencies.files.link(id, lifetimeMs),
  };
}

/**
 * Asks the platform for the outcome of an earlier try. Null: the part did not arrive. Rejects with {@link RetryLater} where
 * the platform does not answer now.
 */
async function reconcile(
  { store, channels }: DeliverDependencies,
  delivery: DeliveryToSend,
  part: Part,
  context: SendContext,
): Promise<Receipt | null | "cannot_tell"> {
  const adapter = channels.adapter({ id: delivery.account_id });
  if (adapter.reconcile === undefined) return "cannot_tell";
  const otherExternalIds = await otherParts(store.read, delivery);
  const attempt = { part, startedAt: delivery.started_at ?? 0, otherExternalIds };
  try {
    return await adapter.reconcile(context.key, context, attempt);
  } catch (error) {
    if (error instanceof DeliveryError) throw new RetryLater(error.message, error.retryAfterMs, error);
    throw error;
  }
}

const otherPartsMax = 200;

async function otherParts(
  db: Reader,
  { id, account_id, conversation_id }: Pick<DeliveriesTable, "id" | "account_id" | "conversation_id">,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("deliveries")
    .select("external_id")
    .where("conversation_id", "=", conversation_id)
    .where("account_id", "=", account_id)
    .where("id", "!=", id)
    .where("external_id", "is not", null)
    .orderBy("id", "desc")
    .limit(otherPartsMax)
    .execute();
  return rows.flatMap(({ external_id: externalId }) => externalId ?? []);
}

/** Stores "sending" where a second send could show twice. Rejects with {@link LostLease}: the part must not be sent. */
async function begin(
  { store, channels, deliveryTracker }: DeliverDependencies,
  row: SendWork,
  { id: deliveryId, account_id, state }: DeliveryToSend,
  isFinal: boolean,
): Promise<void> {
  const isQueued = state === "queued";
  // An agent who edits a reply must see that it may have been sent already.
  if (!channels.adapter({ id: account_id }).capabilities.idempotentSend || (isFinal && isQueued)) {
    await deliveryTracker.begin({ row, deliveryId, state: isQueued ? "queued" : "sending" });
  } else if (!(await isHeld(store, row))) {
    // Idempotent sends need no "sending" state. A worker that lost its lease must still not send.
    throw new LostLease();
  }
}

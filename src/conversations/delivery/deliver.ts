import type { DeliverDependencies } from "./deliver-dependencies.ts";
import { RetryLater } from "./retry-later.ts";
import type { Attempt, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Role } from "#domain/conversation/message.ts";
import { linkConversations } from "#database/queries/conversations.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, finishWork, holdWork, insertWork, isHeld } from "#database/queries/outbox.ts";
import { prepareRead } from "#database/dialects/prepared.ts";
import type { DeliveriesTable, DeliveryState } from "#database/schema/tables.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { editUnsentReply } from "./edit-unsent.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { followLane, sendLane } from "#queue/lanes.ts";
import { syncAlso } from "#conversations/transaction/desk-sync-work.ts";
import { noteFailure } from "./failures.ts";
import { statesBefore } from "#conversations/inbound/event-effects.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { storedBytes } from "#conversations/attachments/stored-bytes.ts";
import { rerouteWork } from "./reroute-work.ts";

/**
 * Sends one part of a message to the platform and stores the receipt. The state "sending" is stored before the call, so
 * that after a crash the part is known to be possibly sent. The next try then asks the platform, sends again if the
 * platform drops duplicates, or notifies the agents.
 */
export async function deliver(dependencies: DeliverDependencies, row: OutboxRow, signal: AbortSignal): Promise<void> {
  const { store, clock, channels, search, checkpoint, deliveryTracker, publishEffects } = dependencies;
  const { deliveryId } = JSON.parse(row.payload) as { readonly deliveryId: string };
  const [delivery] = await deliveryRows(store, { deliveryId });
  // The conversation was deleted, or the part is settled: nothing is left to send.
  if (delivery === undefined || (delivery.state !== "queued" && delivery.state !== "sending")) {
    await store.write((tx) => finishWork(tx, [row]));
    return;
  }
  const account = { id: delivery.account_id };
  if (
    delivery.unless_seen !== null &&
    delivery.state === "queued" &&
    (await isSeen(store.read, delivery.unless_seen))
  ) {
    publishEffects(
      await store.write(async (tx) => {
        await finishWork(tx, [row]);
        await tx.deleteFrom("deliveries").where("id", "=", deliveryId).where("state", "=", "queued").execute();
        // This part was the last open one of the reply, so its delivery status is final.
        return withDeliveryStatus(tx, delivery, null, clock.now());
      }),
    );
    return;
  }
  try {
    await channels.ready(account);
  } catch (error) {
    // A DeliveryError means that the account is gone. Other failures come from loading the adapter and are retried.
    if (!(error instanceof DeliveryError)) throw error;
    await failed(error);
    return;
  }
  // On a platform that cannot edit and delete, a sent reply is final.
  const isForGood = delivery.role === "agent" && !(channels.can(account, "edit") && channels.can(account, "remove"));
  if (isForGood && delivery.state === "queued" && delivery.thread === null) {
    if (await editUnsentReply(dependencies, delivery)) return deliver(dependencies, row, signal);
  }
  const part = JSON.parse(delivery.payload) as Part;
  const context: SendContext = {
    thread: delivery.thread ?? delivery.context_key,
    key: delivery.id,
    messageId: delivery.message_id,
    signal,
    file: (id) => storedBytes(dependencies, { message_id: delivery.message_id }, id),
    fileLink: (id, lifetimeMs) => dependencies.files.link(id, lifetimeMs),
  };
  const harmless = channels.idempotentSend(account);

  if (delivery.state === "sending" && !harmless) {
    const attempt: Attempt = {
      part,
      startedAt: delivery.started_at ?? 0,
      otherExternalIds: await otherParts(store.read, delivery),
    };
    const found = await channels.reconcile(account, context.key, context, attempt);
    if (found === "cannot_tell") {
      await storeReceipt(
        "unknown",
        null,
        "This message may not have arrived: the connection broke while it was being sent.",
      );
      return;
    }
    if (found !== null) {
      await storeReceipt(found.state, found, null);
      return;
    }
  }
  // An agent who edits a reply must see that it may have been sent already.
  if (!harmless || (isForGood && delivery.state === "queued")) {
    await deliveryTracker.begin({ row, deliveryId, state: delivery.state });
  } else if (!(await isHeld(store, row))) {
    // Idempotent sends need no "sending" state. A worker that lost its lease must still not send.
    throw new LostLease();
  }

  checkpoint("send.before");
  let receipt: Receipt;
  try {
    receipt = await channels.send(account, part, context);
  } catch (error) {
    await failed(error);
    return;
  }
  checkpoint("send.after");
  await storeReceipt(receipt.state, receipt, null);
  checkpoint("send.marked");

  async function failed(error: unknown): Promise<void> {
    const outcome = error instanceof DeliveryError ? error.outcome : "unknown";
    const message = error instanceof Error ? error.message : "the platform call failed";
    const retryAfterMs = error instanceof DeliveryError ? error.retryAfterMs : undefined;
    switch (outcome) {
      case "rejected":
        if (error instanceof DeliveryError && error.windowClosed && account.id === delivery?.own_account_id) {
          publishEffects(
            await store.write((tx) => rerouteClosedWindow(tx, search, row, delivery, message, clock.now())),
          );
          return;
        }
        await storeReceipt("failed", null, `This message could not be delivered: ${message}`);
        return;
      case "not_sent":
        await store.write(async (tx) => {
          await holdWork(tx, row);
          await tx
            .updateTable("deliveries")
            .set({ state: "queued" })
            .where("id", "=", deliveryId)
            .where("state", "=", "sending")
            .execute();
        });
        throw new RetryLater(message, retryAfterMs, error);
      case "unknown":
        // The state stays "sending", so the next attempt asks before it sends.
        throw new RetryLater(message, retryAfterMs, error);
    }
  }

  async function storeReceipt(state: DeliveryState, sent: Receipt | null, note: string | null): Promise<void> {
    // Most parts need neither notes, references nor a status for an agent.
    const isPlain =
      note === null && sent !== null && (sent.messageRefs ?? []).length === 0 && delivery?.role !== "agent";
    if (isPlain) {
      const isFoundOut = !harmless && channels.reconciles(account);
      const known = { row, deliveryId, externalId: sent.externalId, state: sent.state, isFoundOut };
      if (await deliveryTracker.sent(known)) return;
    }
    const effects = await store.write(async (tx) => {
      await finishWork(tx, [row]);
      const { numUpdatedRows } = await tx
        .updateTable("deliveries")
        .set({ state, external_id: sent?.externalId ?? null, settled_at: clock.now(), error: note })
        .where("id", "=", deliveryId)
        .where("state", "in", statesBefore(state))
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) {
        // The platform's report arrived first and is more recent, so it is kept.
        await tx
          .updateTable("deliveries")
          .set({ external_id: sent?.externalId ?? null })
          .where("id", "=", deliveryId)
          .where("external_id", "is", null)
          .execute();
      }
      const names = delivery === undefined ? [] : (sent?.messageRefs ?? []);
      await linkConversations(
        tx,
        names.map((name) => ({
          account_id: account.id,
          kind: "mark" as const,
          name,
          conversation_id: delivery?.conversation_id ?? "",
        })),
      );
      const given =
        note === null || delivery === undefined || numUpdatedRows === 0n
          ? null
          : await giveUp(
              tx,
              { search, channels },
              delivery,
              { state, note, isAlarming: state === "unknown" },
              clock.now(),
            );
      return withDeliveryStatus(tx, delivery, given, clock.now());
    });
    publishEffects(effects);
  }
}

const deliveryRows = prepareRead((db, { deliveryId }: { readonly deliveryId: string }) =>
  db
    .selectFrom("deliveries")
    .innerJoin("conversations", "conversations.id", "deliveries.conversation_id")
    .innerJoin("messages", "messages.id", "deliveries.message_id")
    .selectAll("deliveries")
    .select(["conversations.context_key", "conversations.account_id as own_account_id", "messages.role"])
    .where("deliveries.id", "=", deliveryId),
);

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

/** Adds an update of the reply's delivery status at the agents' desk, if there is one. */
async function withDeliveryStatus(
  tx: Tx,
  delivery: { readonly role: Role; readonly message_id: string; readonly conversation_id: string } | undefined,
  effects: Effects | null,
  now: number,
): Promise<Effects | null> {
  if (delivery?.role !== "agent") return effects;
  const work = await syncAlso(tx, delivery.conversation_id, [{ kind: "fate", id: delivery.message_id }], now);
  if (work === null) return effects;
  await insertWork(tx, [work], now);
  return { threads: [], workspaces: [], ...effects, wake: [...(effects?.wake ?? []), { lane: work.lane, dueAt: now }] };
}

/** Whether the customer has read this part. */
async function isSeen(db: Reader, deliveryId: string): Promise<boolean> {
  const part = await db.selectFrom("deliveries").select("state").where("id", "=", deliveryId).executeTakeFirst();
  return part?.state === "read";
}

/** Fails the remaining parts of the message too, because half a message would mislead, and notifies the agents. */
async function giveUp(
  tx: Tx,
  { search, channels }: Pick<DeliverDependencies, "search" | "channels">,
  delivery: Pick<DeliveriesTable, "account_id" | "message_id" | "conversation_id">,
  { state, note, isAlarming }: { readonly state: DeliveryState; readonly note: string; readonly isAlarming: boolean },
  now: number,
): Promise<Effects> {
  if (state === "failed") {
    const rest = await tx
      .selectFrom("deliveries")
      .select("id")
      .where("message_id", "=", delivery.message_id)
      // Parts sent through another account may still arrive.
      .where("account_id", "=", delivery.account_id)
      .where("state", "=", "queued")
      .execute();
    for (const { id } of rest) {
      await tx.updateTable("deliveries").set({ state, error: note, settled_at: now }).where("id", "=", id).execute();
    }
  }
  const changes = createUnitOfWork(now, search);
  await noteFailure(tx, changes, delivery, note, isAlarming ? channels : undefined);
  return changes.flush(tx);
}

/** The platform's reply window has closed: fails the queued parts of the message and queues its reroute. */
async function rerouteClosedWindow(
  tx: Tx,
  search: ConversationSearch,
  row: OutboxRow,
  delivery: Pick<DeliveriesTable, "id" | "account_id" | "message_id" | "conversation_id">,
  reason: string,
  now: number,
): Promise<Effects> {
  await finishWork(tx, [row]);
  await tx
    .updateTable("deliveries")
    .set({ state: "failed", error: reason, settled_at: now })
    .where("message_id", "=", delivery.message_id)
    .where("account_id", "=", delivery.account_id)
    .where((eb) => eb.or([eb("id", "=", delivery.id), eb("state", "=", "queued")]))
    .execute();
  const { conversation_id: conversationId, message_id: messageId } = delivery;
  const changes = createUnitOfWork(now, search);
  changes.addWork(rerouteWork({ conversationId, messageId, reason }, now));
  return changes.flush(tx);
}

const lanesOf = (conversationId: string): readonly string[] => [sendLane(conversationId), followLane(conversationId)];

/** Called in the transaction that makes the send a dead letter. */
export async function abandonDelivery(
  tx: Tx,
  dependencies: Pick<DeliverDependencies, "search" | "channels">,
  row: OutboxRow,
  reason: string,
  now: number,
): Promise<Effects | null> {
  const { deliveryId } = JSON.parse(row.payload) as { readonly deliveryId: string };
  const delivery = await tx.selectFrom("deliveries").selectAll().where("id", "=", deliveryId).executeTakeFirst();
  if (delivery === undefined || !lanesOf(delivery.conversation_id).includes(row.lane)) return null;
  const state = delivery.state === "sending" ? "unknown" : "failed";
  const note = `This message could not be delivered, and is not tried any more: ${reason}`;
  await tx
    .updateTable("deliveries")
    .set({ state, error: note, settled_at: now })
    .where("id", "=", deliveryId)
    .execute();
  const given = await giveUp(tx, dependencies, delivery, { state, note, isAlarming: true }, now);
  const message = await tx
    .selectFrom("messages")
    .select("role")
    .where("id", "=", delivery.message_id)
    .executeTakeFirst();
  return withDeliveryStatus(tx, message === undefined ? undefined : { ...delivery, role: message.role }, given, now);
}

import type { DeliverDependencies } from "./deliver-dependencies.ts";
import { RetryLater } from "#queue/retry-later.ts";
import type { Receipt } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Role } from "#domain/conversation/message.ts";
import { linkConversations } from "#database/queries/conversations.ts";
import type { SendWork } from "#conversations/transaction/effects/send-plan.ts";
import { finishWork, holdWork, insertWork } from "#database/queries/outbox.ts";
import type { DeliveriesTable } from "#database/schema/tables.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { followLane, sendLane } from "#queue/lanes.ts";
import { syncAlso } from "#conversations/work/desk-sync-work.ts";
import { noteFailure } from "./failures.ts";
import { statesBefore } from "./delivery-states.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import { rerouteWork } from "#conversations/work/reroute-work.ts";

// Stores how the sending of a part ended: its state, the end of the work, and the notice for agents.

/** A part of a message, with its conversation's thread and account and the message's author. */
export interface DeliveryToSend extends DeliveriesTable {
  readonly context_key: string;
  readonly own_account_id: string;
  readonly role: Role;
}

/** Deletes a queued part that the customer has seen on another channel. */
export async function dropSeenPart(
  { store, clock, publishEffects }: DeliverDependencies,
  row: SendWork,
  delivery: DeliveryToSend,
): Promise<void> {
  const effects = await store.write(async (tx) => {
    await finishWork(tx, [row]);
    await tx.deleteFrom("deliveries").where("id", "=", delivery.id).where("state", "=", "queued").execute();
    // This part was the last open one of the reply, so its delivery status is final.
    return withDeliveryStatus(tx, delivery, null, clock.now());
  });
  publishEffects(effects);
}

/** Stores that the platform has the part. */
export async function storeReceipt(
  { store, clock, channels, deliveryTracker, publishEffects }: DeliverDependencies,
  row: SendWork,
  delivery: DeliveryToSend,
  { state, externalId, messageRefs = [] }: Receipt,
): Promise<void> {
  const account = { id: delivery.account_id };
  // Most parts need neither references nor a status for an agent.
  if (messageRefs.length === 0 && delivery.role !== "agent") {
    const { capabilities, reconcile } = channels.adapter(account);
    const isFoundOut = !capabilities.idempotentSend && reconcile !== undefined;
    if (await deliveryTracker.sent({ row, deliveryId: delivery.id, externalId, state, isFoundOut })) return;
  }
  const effects = await store.write(async (tx) => {
    await finishWork(tx, [row]);
    if (!(await settle(tx, delivery, { state, external_id: externalId, error: null }, clock.now()))) {
      // The platform's report arrived first and is more recent, so its state is kept.
      await tx
        .updateTable("deliveries")
        .set({ external_id: externalId })
        .where("id", "=", delivery.id)
        .where("external_id", "is", null)
        .execute();
    }
    const conversation_id = delivery.conversation_id;
    await linkConversations(
      tx,
      messageRefs.map((name) => ({ account_id: account.id, kind: "mark", name, conversation_id })),
    );
    return withDeliveryStatus(tx, delivery, null, clock.now());
  });
  publishEffects(effects);
}

/** Stores that the part did not arrive, or may not have. The note says so to the agents. */
export async function storeUndelivered(
  { store, clock, search, channels, publishEffects }: DeliverDependencies,
  row: SendWork,
  delivery: DeliveryToSend,
  state: "failed" | "unknown",
  note: string,
): Promise<void> {
  const effects = await store.write(async (tx) => {
    await finishWork(tx, [row]);
    const isSettled = await settle(tx, delivery, { state, external_id: null, error: note }, clock.now());
    const failure = { state, note, isAlarming: state === "unknown" };
    const given = isSettled ? await giveUp(tx, { search, channels }, delivery, failure, clock.now()) : null;
    return withDeliveryStatus(tx, delivery, given, clock.now());
  });
  publishEffects(effects);
}

/** Returns false and stores nothing if the platform has reported a later state. */
async function settle(
  tx: Tx,
  { id }: DeliveryToSend,
  outcome: Pick<DeliveriesTable, "state" | "external_id" | "error">,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("deliveries")
    .set({ ...outcome, settled_at: now })
    .where("id", "=", id)
    .where("state", "in", statesBefore(outcome.state))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Stores a failed call. Rejects with {@link RetryLater} unless the platform has refused the part. */
export async function storeFailure(
  dependencies: DeliverDependencies,
  row: SendWork,
  delivery: DeliveryToSend,
  error: unknown,
): Promise<void> {
  const { store, clock, search, publishEffects } = dependencies;
  const message = error instanceof Error ? error.message : "the platform call failed";
  // After an unknown outcome the state stays "sending", so the next try asks before it sends.
  if (!(error instanceof DeliveryError)) throw new RetryLater(message, undefined, error);
  if (error.outcome === "rejected") {
    if (!error.windowClosed || delivery.account_id !== delivery.own_account_id) {
      const note = `This message could not be delivered: ${message}`;
      return storeUndelivered(dependencies, row, delivery, "failed", note);
    }
    publishEffects(await store.write((tx) => rerouteClosedWindow(tx, search, row, delivery, message, clock.now())));
    return;
  }
  if (error.outcome === "not_sent") {
    await store.write(async (tx) => {
      await holdWork(tx, row);
      await tx
        .updateTable("deliveries")
        .set({ state: "queued" })
        .where("id", "=", delivery.id)
        .where("state", "=", "sending")
        .execute();
    });
  }
  throw new RetryLater(message, error.retryAfterMs, error);
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

/**
 * Notifies the agents. `failed` fails the remaining parts of the message too, because half a message would mislead; after
 * `unknown` they are still sent, because the part may have arrived.
 */
async function giveUp(
  tx: Tx,
  { search, channels }: Pick<DeliverDependencies, "search" | "channels">,
  delivery: Pick<DeliveriesTable, "account_id" | "message_id" | "conversation_id">,
  {
    state,
    note,
    isAlarming,
  }: { readonly state: "failed" | "unknown"; readonly note: string; readonly isAlarming: boolean },
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
  row: SendWork,
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

export async function abandonDelivery(
  tx: Tx,
  dependencies: Pick<DeliverDependencies, "search" | "channels">,
  row: SendWork,
  reason: string,
  now: number,
): Promise<Effects | null> {
  const { deliveryId } = row.payload;
  const delivery = await tx.selectFrom("deliveries").selectAll().where("id", "=", deliveryId).executeTakeFirst();
  if (delivery === undefined || !lanesOf(delivery.conversation_id).includes(row.lane)) return null;
  const state = delivery.state === "sending" ? "unknown" : "failed";
  const fact =
    state === "unknown" ? "It is unknown whether this message arrived" : "This message could not be delivered";
  const note = `${fact}. It is not sent again: ${reason}`;
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

import type { TextChange } from "./incoming-event.ts";
import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import type { DeliveryState, MessagesTable } from "#database/schema/tables.ts";
import type { Albums } from "./albums.ts";
import { newFiles, withAlbumText } from "./albums.ts";
import type { MessageFiles } from "#conversations/attachments/attachments.ts";
import { dropAttachments } from "#conversations/attachments/attachments.ts";
import type { UnitOfWork, Draft } from "#conversations/transaction/draft.ts";
import { indexWork } from "#conversations/transaction/search-indexing.ts";
import { syncAlso } from "#conversations/transaction/desk-sync-work.ts";
import { noteFailure } from "#conversations/delivery/failures.ts";
import type { Tx } from "#database/contract.ts";
import { rerouteWork } from "#conversations/delivery/reroute-work.ts";

/** Edits a message that is not inserted yet. A deleted message stays deleted. */
export function changeText(message: MessagesTable, event: TextChange, now: number): void {
  if (message.deleted_at !== null) return;
  if (event.kind === "edit") Object.assign(message, { content: event.text, edited_at: now });
  else Object.assign(message, { content: "", deleted_at: now });
}

/**
 * Edits or deletes a stored message and attaches its new files, which `fetch` prepares. Returns the message's id, or
 * null if the message has not arrived yet; the caller must then keep the edit pending.
 */
export async function applyEdit(
  tx: Tx,
  changes: UnitOfWork,
  draft: Draft,
  albums: Albums,
  event: TextChange,
  fetch: (files: readonly InboundFile[]) => MessageFiles,
): Promise<string | null> {
  const message = (await storedMessage(tx, draft, event)) ?? (await albumMessage(tx, draft, albums, event));
  if (message === undefined) return null;
  const had = message.files ?? 0;
  const brings = event.kind === "edit" && (event.files ?? []).length > 0;
  // An album always has files.
  const album = had > 0 || brings ? await albums.of(draft.row.id, message.id) : undefined;
  const change = withAlbumText(album, event);
  const content = change.kind === "edit" ? change.text : "";
  if (message.deleted_at !== null) return message.id;
  const fresh = album !== undefined && brings ? newFiles(album, event, had) : [];
  if (event.kind === "edit" && content === message.content && fresh.length === 0) return message.id;
  await tx
    .updateTable("messages")
    .set(event.kind === "edit" ? { content, edited_at: changes.now } : { content, deleted_at: changes.now })
    .where("id", "=", message.id)
    .execute();
  // Parts that join the message later in this transaction must not restore the old text.
  changes.files.rewrite(message.id, event.kind === "edit" ? content : null);
  if (event.kind === "delete") {
    const files = await tx
      .selectFrom("attachments")
      .select(["id", "workspace_id"])
      .where("message_id", "=", message.id)
      .execute();
    for (const work of await dropAttachments(tx, files, changes.now)) changes.addWork(work);
    if (files.length > 0) await tx.updateTable("messages").set({ files: null }).where("id", "=", message.id).execute();
  }
  changes.addWork(indexWork([draft.row.id], changes.now));
  if (fresh.length > 0) {
    const { id: messageId, seq, created_at: createdAt } = message;
    draft.joinMessage(
      { messageId, conversationId: draft.row.id, seq, content, files: had, createdAt },
      content,
      fetch(fresh),
    );
  } else {
    draft.messageUpdated(message.id);
  }
  return message.id;
}

const customerMessages = (tx: Tx, { row }: Draft) =>
  tx
    .selectFrom("messages")
    .select(["id", "seq", "content", "files", "created_at", "deleted_at"])
    .where("conversation_id", "=", row.id)
    .where("role", "=", "user");

const storedMessage = (tx: Tx, draft: Draft, { messageExternalId }: TextChange) =>
  customerMessages(tx, draft).where("external_id", "=", messageExternalId).executeTakeFirst();

/** An edit can name any picture of an album, because each picture can have a caption. */
async function albumMessage(tx: Tx, draft: Draft, albums: Albums, event: TextChange) {
  if (event.kind === "delete") return undefined;
  const { account_id: accountId, id } = draft.row;
  const album = await albums.joinedBy(accountId, id, event.messageExternalId);
  return album === undefined
    ? undefined
    : customerMessages(tx, draft).where("id", "=", album.messageId).executeTakeFirst();
}

/** Called when the platform renames a thread. */
export async function moveContext(tx: Tx, conversationId: string, toThread: string): Promise<void> {
  await tx.updateTable("conversations").set({ context_key: toThread }).where("id", "=", conversationId).execute();
}

const rank: Readonly<Record<DeliveryState, number>> = {
  queued: 0,
  sending: 1,
  unknown: 2,
  sent: 3,
  failed: 4,
  delivered: 5,
  read: 6,
};

/** Returns the states from which a part may enter `state`. */
export function statesBefore(state: DeliveryState): readonly DeliveryState[] {
  return (Object.keys(rank) as DeliveryState[]).filter((before) => rank[before] < rank[state]);
}

/** Applies a delivery report to a sent part. Reports arrive late and out of order; the furthest state wins. */
export async function applyDelivery(
  tx: Tx,
  changes: UnitOfWork,
  accountId: string,
  event: Extract<InboundEvent, { kind: "delivery" }>,
): Promise<void> {
  const { partKey, partExternalId } = event;
  const of = tx.selectFrom("deliveries").selectAll().where("account_id", "=", accountId);
  const rows = await (
    partKey === undefined
      ? of.where("external_id", "=", partExternalId)
      : of
          .where("id", "=", partKey)
          .where((eb) => eb.or([eb("external_id", "is", null), eb("external_id", "=", partExternalId)]))
  ).execute();
  for (const delivery of rows) {
    const known = await tx
      .selectFrom("receipts")
      .select("state")
      .where("delivery_id", "=", delivery.id)
      .where("state", "=", event.state)
      .executeTakeFirst();
    if (known !== undefined) continue;
    await tx
      .insertInto("receipts")
      .values({ delivery_id: delivery.id, state: event.state, at: event.sentAt })
      .execute();
    if (rank[event.state] <= rank[delivery.state]) continue;
    await tx
      .updateTable("deliveries")
      .set({
        state: event.state,
        error: event.error ?? delivery.error,
        settled_at: changes.now,
        external_id: partExternalId,
      })
      .where("id", "=", delivery.id)
      .execute();
    const shown = await syncAlso(
      tx,
      delivery.conversation_id,
      [{ kind: "fate", id: delivery.message_id }],
      changes.now,
    );
    if (shown !== null) changes.addWork(shown);
    if (event.state !== "failed") continue;
    if (event.windowClosed === true && (await isOwn(tx, delivery))) {
      const { conversation_id: conversationId, message_id: messageId } = delivery;
      changes.addWork(rerouteWork({ conversationId, messageId, reason: event.error ?? "" }, changes.now));
    } else {
      await noteFailure(tx, changes, delivery, event.error ?? "the platform reported a failure");
    }
  }
}

/** Whether the part went by the conversation's own account. */
async function isOwn(
  tx: Tx,
  delivery: { readonly conversation_id: string; readonly account_id: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom("conversations")
    .select("account_id")
    .where("id", "=", delivery.conversation_id)
    .executeTakeFirst();
  return row?.account_id === delivery.account_id;
}

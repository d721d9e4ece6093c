import type { Selectable } from "kysely";
import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { dropAttachments } from "#conversations/attachments/attachments.ts";
import { indexWork } from "#conversations/transaction/effects/search-indexing.ts";
import { forgetQuotes } from "#conversations/references/stored-reference.ts";
import { forgetReactions } from "#conversations/references/stored-reactions.ts";
import { newFiles, withAlbumText } from "../albums.ts";
import type { IngestBatch } from "../batch.ts";
import { filesOf } from "../batch.ts";
import type { TextChange } from "#channels/inbound-event.ts";
import type { IncomingEvent } from "#conversations/transaction/incoming-event.ts";

type CustomerMessage = Pick<
  Selectable<MessagesTable>,
  "id" | "seq" | "content" | "files" | "created_at" | "deleted_at"
>;

/**
 * Edits or deletes a stored message and attaches its new files. Returns the message's id, or null if the message has not
 * arrived yet; the caller must then keep the edit pending.
 */
export async function editStoredMessage(
  batch: IngestBatch,
  incoming: IncomingEvent<TextChange>,
  row: ConversationRow,
): Promise<string | null> {
  const { tx, changes, albums, now } = batch;
  const { event, workspace } = incoming;
  const draft = changes.track(row, workspace.settings, false);
  const message = await findMessage(batch, draft.row, event);
  if (message === undefined) return null;
  const had = message.files ?? 0;
  const brings = event.kind === "edit" && (event.files ?? []).length > 0;
  // An album always has files.
  const album = had > 0 || brings ? await albums.of(row.id, message.id) : undefined;
  const change = withAlbumText(album, event);
  if (message.deleted_at !== null) return message.id;
  if (change.kind === "delete") {
    for (const id of await storeDeletion(batch, row.id, message.id)) draft.messageUpdated(id);
    changes.addWork(indexWork([row.id], now));
    draft.messageUpdated(message.id);
    return message.id;
  }
  const { text } = change;
  const fresh = album !== undefined && brings ? newFiles(album, change, had) : [];
  if (text === message.content && fresh.length === 0) return message.id;
  await tx.updateTable("messages").set({ content: text, edited_at: now }).where("id", "=", message.id).execute();
  // Parts that join the message later in this transaction must not restore the old text.
  changes.files.rewrite(message.id, text);
  changes.addWork(indexWork([row.id], now));
  if (fresh.length === 0) {
    draft.messageUpdated(message.id);
    return message.id;
  }
  const { id: messageId, seq, created_at: createdAt } = message;
  const grouped = { messageId, conversationId: row.id, seq, content: text, files: had, createdAt };
  draft.joinMessage(grouped, text, filesOf(batch, { ...incoming, event: change }, fresh));
  return message.id;
}

/** Returns the ids of the messages that no longer quote it. */
async function storeDeletion(
  { tx, changes, now }: IngestBatch,
  conversationId: string,
  messageId: string,
): Promise<readonly string[]> {
  await tx
    .updateTable("messages")
    .set({ content: "", refers_to: null, forwarded: null, deleted_at: now })
    .where("id", "=", messageId)
    .execute();
  await forgetReactions(tx, messageId);
  const quoting = await forgetQuotes(tx, conversationId, messageId);
  changes.files.rewrite(messageId, null);
  const files = await tx
    .selectFrom("attachments")
    .select(["id", "workspace_id"])
    .where("message_id", "=", messageId)
    .execute();
  for (const work of await dropAttachments(tx, files, now)) changes.addWork(work);
  if (files.length > 0) await tx.updateTable("messages").set({ files: null }).where("id", "=", messageId).execute();
  return quoting;
}

async function findMessage(
  { tx, albums }: IngestBatch,
  row: ConversationRow,
  { kind, messageExternalId }: TextChange,
): Promise<CustomerMessage | undefined> {
  const own = await customerMessages(tx, row).where("external_id", "=", messageExternalId).executeTakeFirst();
  if (own !== undefined || kind === "delete") return own;
  // An edit can name any picture of an album, because each picture can have a caption.
  const album = await albums.joinedBy(row.account_id, row.id, messageExternalId);
  return album === undefined
    ? undefined
    : customerMessages(tx, row).where("id", "=", album.messageId).executeTakeFirst();
}

const customerMessages = (tx: Tx, { id }: ConversationRow) =>
  tx
    .selectFrom("messages")
    .select(["id", "seq", "content", "files", "created_at", "deleted_at"])
    .where("conversation_id", "=", id)
    .where("role", "=", "user");

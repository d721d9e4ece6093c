import type { ConversationRow } from "#database/queries/conversations.ts";
import { storeWaitingFiles } from "#conversations/attachments/attachments.ts";
import { newFiles, textOf, withAlbumText } from "../albums.ts";
import type { IngestBatch } from "../batch.ts";
import { filesOf } from "../batch.ts";
import type { TextChange } from "#channels/inbound-event.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import { noResult } from "../incoming-event.ts";
import { groupedOf } from "../message-group.ts";
import { changeText, targetOf } from "../pending-edits.ts";
import { editStoredMessage } from "./edit-stored-message.ts";

/**
 * Edits or deletes a customer's message: one that this batch has not inserted yet, or a stored one. Keeps the change
 * pending if the message has not arrived.
 */
export async function ingestEdit(
  batch: IngestBatch,
  incoming: IncomingEvent<TextChange>,
  row: ConversationRow | undefined,
): Promise<IngestResult> {
  const { account, event } = incoming;
  const target = targetOf(account.id, event.thread, event.messageExternalId);
  if (!batch.edits.isNewest(target, event)) {
    return { ...noResult, conversationId: row?.id ?? null, isObsolete: true };
  }
  if (row === undefined) {
    await keepPending(batch, incoming, target);
    return noResult;
  }
  const edited = editNewMessage(batch, incoming, row, target);
  if (edited !== undefined) return edited;
  const messageId = await editStoredMessage(batch, incoming, row);
  if (messageId === null) await keepPending(batch, incoming, target);
  else if (event.kind === "edit") await updateGroups(batch, messageId);
  return { ...noResult, conversationId: row.id, messageId };
}

function editNewMessage(
  batch: IngestBatch,
  incoming: IncomingEvent<TextChange>,
  row: ConversationRow,
  target: string,
): IngestResult | undefined {
  const { event, workspace } = incoming;
  const album = batch.albums.loaded(row.id, event.messageExternalId);
  const message =
    batch.newMessages.get(target) ??
    [...batch.newMessages.values()].find(({ id }) => event.kind === "edit" && id === album?.messageId);
  if (message === undefined) return undefined;
  changeText(message, withAlbumText(album, event), batch.now);
  if (event.kind === "delete") batch.changes.files.withdraw(message);
  else if (message.deleted_at === null && album !== undefined) {
    const files = newFiles(album, event, message.files ?? 0);
    if (files.length > 0) {
      const draft = batch.changes.track(row, workspace.settings, false);
      draft.joinMessage(groupedOf(message), message.content, filesOf(batch, { ...incoming, event }, files));
    }
  }
  return { ...noResult, conversationId: row.id, messageId: message.id };
}

async function keepPending(batch: IngestBatch, incoming: IncomingEvent<TextChange>, target: string): Promise<void> {
  const { event } = incoming;
  batch.edits.add(target, event);
  if (event.kind === "edit" && event.knownOnly !== true) {
    await storeWaitingFiles(batch.tx, event, filesOf(batch, { ...incoming, event }));
  }
}

/** Parts that join the message later in this transaction must not restore the old text. */
async function updateGroups({ groups, albums }: IngestBatch, messageId: string): Promise<void> {
  for (const grouped of groups.values()) {
    if (grouped.messageId === messageId) grouped.content = textOf(await albums.of(grouped.conversationId, messageId));
  }
}

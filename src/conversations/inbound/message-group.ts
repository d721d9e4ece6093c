import { botMayAnswer } from "#domain/conversation/status.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { Grouped } from "#conversations/attachments/attachments.ts";
import { groupKey, groupWaitMs, takeWaitingFiles } from "#conversations/attachments/attachments.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import { newFiles, recordFiles, textOf } from "./albums.ts";
import type { IngestBatch } from "./batch.ts";
import { filesOf } from "./batch.ts";
import type { EventOf } from "#channels/inbound-event.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import { noResult, messageIdOf } from "./incoming-event.ts";
import { targetOf } from "./pending-edits.ts";

// Messages that consist of several events, such as the pictures of an album.

type IncomingMessage = IncomingEvent<EventOf<"message">>;

/** Key of the event's group in {@link IngestBatch.groups}. */
export function groupOf({ account, event }: IncomingMessage): string | undefined {
  return event.group === undefined ? undefined : `${account.id}\n${groupKey(event.thread, event.group.key)}`;
}

export const groupedOf = ({ id, conversation_id, seq, content, files, created_at }: MessagesTable): Grouped => ({
  messageId: id,
  conversationId: conversation_id,
  seq,
  content,
  files: files ?? 0,
  createdAt: created_at,
});

/** Returns the message of the event's group that the event joins. */
export function groupToJoin(
  { groups, now }: IngestBatch,
  incoming: IncomingMessage,
  row: ConversationRow | undefined,
): Grouped | undefined {
  const message = groups.get(groupOf(incoming) ?? "");
  if (message === undefined || row?.id !== message.conversationId) return undefined;
  const { text, group } = incoming.event;
  // Text that arrives after the bot began its answer becomes a message of its own, so that the bot answers it too.
  const isLate = botMayAnswer(row.status) && now >= message.createdAt + groupWaitMs;
  return isLate && group?.joinsOnly !== true && text.trim() !== "" ? undefined : message;
}

export async function joinGroup(
  batch: IngestBatch,
  incoming: IncomingMessage,
  draft: Draft,
  message: Grouped,
): Promise<IngestResult> {
  draft.joinMessage(message, await joinedText(batch, incoming, message), filesOf(batch, incoming));
  await attachPendingFiles(batch, draft, incoming, message);
  batch.joining.add(incoming.event);
  return { ...noResult, conversationId: draft.row.id, messageId: message.messageId, seq: message.seq };
}

/** Returns the message's text including this part. */
async function joinedText(
  { edits, albums }: IngestBatch,
  { account, event }: IncomingMessage,
  { conversationId, messageId }: Grouped,
): Promise<string> {
  const externalId = messageIdOf(event);
  const change = edits.pending(targetOf(account.id, event.thread, externalId));
  if (change !== undefined) {
    edits.applied(account.id, externalId, { id: messageId, conversation_id: conversationId });
  }
  const album = await albums.of(conversationId, messageId);
  album.texts.set(externalId, change === undefined ? event.text : change.kind === "edit" ? change.text : "");
  recordFiles(album, externalId, event.files ?? [], true);
  return textOf(album);
}

/** Attaches the files of an edit that arrived before its part. */
export async function attachPendingFiles(
  { tx, edits, albums }: IngestBatch,
  draft: Draft,
  { account, event }: IncomingMessage,
  message: Grouped,
): Promise<void> {
  const change = edits.pending(targetOf(account.id, event.thread, messageIdOf(event)));
  if (change?.kind !== "edit" || change.files === undefined) return;
  const album = await albums.of(message.conversationId, message.messageId);
  const files = await takeWaitingFiles(tx, account.id, change, newFiles(album, change, message.files));
  if (files.fresh.length > 0) draft.joinMessage(message, message.content, files);
}

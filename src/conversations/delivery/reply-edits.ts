import { Type } from "typebox";
import type { PayloadOf } from "#database/work.ts";
import { workKind } from "#database/work.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { DeliverDependencies } from "./deliver-dependencies.ts";
import { indexWork } from "#conversations/transaction/effects/search-indexing.ts";
import { outboundReference, renderReply, unnamed } from "#conversations/references/outbound-reference.ts";
import { forgetQuotes } from "#conversations/references/stored-reference.ts";
import { forgetReactions } from "#conversations/references/stored-reactions.ts";
import { sendLane } from "#queue/lanes.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import { withFiles } from "#conversations/attachments/outbound-links.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";

/** An edit of a reply that an agent has sent, also for the customer. */
export const replyEditKind = workKind(
  "amend",
  Type.Object({
    messageId: Type.String(),
    conversationId: Type.String(),
    /** Null: the reply is deleted. */
    content: Type.Union([Type.String(), Type.Null()]),
  }),
  // It would replace the text of a later edit.
  { canRetry: () => false },
);

export type ReplyEdit = PayloadOf<typeof replyEditKind>;

/** Returns the queued edits of a conversation, oldest first. */
export async function waitingEdits(
  db: Reader,
  conversationId: string,
): Promise<readonly { readonly id: number; readonly amendment: ReplyEdit }[]> {
  const rows = await db
    .selectFrom("outbox")
    .select(["id", "payload"])
    .where("lane", "=", sendLane(conversationId))
    .where("kind", "=", replyEditKind.kind)
    .where("dead_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ id: row.id, amendment: replyEditKind.read(row).payload }));
}

/** Returns the edit that counts: a deletion, otherwise the last text. */
export const lastOf = (amendments: readonly ReplyEdit[]): ReplyEdit | undefined =>
  amendments.find(({ content }) => content === null) ?? amendments.at(-1);

/** Renders the edited message with its files. `sent`: number of parts that the platform has. */
export async function partsOf(
  { store, channels, files }: DeliverDependencies,
  message: MessagesTable & Pick<ConversationRow, "account_id" | "channel">,
  account: { readonly id: string },
  content: string,
  sent = 0,
): Promise<readonly Part[]> {
  const attachments = (await attachmentsOf(store.read, [message])).get(message.id) ?? [];
  const place = { id: message.conversation_id, account_id: message.account_id };
  const refersTo = await outboundReference(store.read, place, message.refers_to);
  const text = {
    role: "agent",
    authorName: message.author_name,
    markdown: content,
    sources: [],
    ...(refersTo === undefined ? {} : { refersTo }),
  } as const;
  const whole = withFiles(channels, files, message, text, attachments);
  const isApart = whole.files !== undefined && sent > whole.files.length;
  const known = account.id === message.account_id ? whole : unnamed(whole);
  return renderReply(channels.adapter(account), isApart ? { ...known, filesApart: true } : known);
}

/** Stores the new text. */
export async function storeEdit(
  tx: Tx,
  search: ConversationSearch,
  { messageId, conversationId, content }: ReplyEdit,
  now: number,
) {
  const draft = await lockDraft(tx, search, conversationId, now);
  if (draft === undefined) return null;
  await tx
    .updateTable("messages")
    .set(content === null ? { content: "", deleted_at: now } : { content, edited_at: now })
    .where("id", "=", messageId)
    .where("deleted_at", "is", null)
    .execute();
  if (content === null) {
    await forgetReactions(tx, messageId);
    for (const id of await forgetQuotes(tx, conversationId, messageId)) draft.draft.messageUpdated(id);
  }
  draft.changes.addWork(indexWork([conversationId], now));
  draft.draft.messageUpdated(messageId);
  return draft.changes.flush(tx);
}

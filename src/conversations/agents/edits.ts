import type { Part } from "#channels/inbound-event.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { DeliverDependencies } from "#conversations/delivery/deliver-dependencies.ts";
import { indexWork } from "#conversations/transaction/search-indexing.ts";
import { sendLane } from "#queue/lanes.ts";
import { lockDraft } from "#conversations/transaction/lock-conversation.ts";
import { withFiles } from "#conversations/attachments/outbound-links.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";

/** A change of a reply that an agent has sent: of what the customer sees too. */
export interface ReplyEdit {
  readonly messageId: string;
  readonly conversationId: string;
  /** Null: it is taken back. */
  readonly content: string | null;
}

/** Changes of a conversation's replies that have not been made yet, oldest first. */
export async function waitingEdits(
  db: Reader,
  conversationId: string,
): Promise<readonly { readonly id: number; readonly amendment: ReplyEdit }[]> {
  const rows = await db
    .selectFrom("outbox")
    .select(["id", "payload"])
    .where("lane", "=", sendLane(conversationId))
    .where("kind", "=", "amend")
    .where("dead_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(({ id, payload }) => ({ id, amendment: JSON.parse(payload) as ReplyEdit }));
}

/** What was taken back stays so, whatever comes after it; else the last text counts. */
export const lastOf = (amendments: readonly ReplyEdit[]): ReplyEdit | undefined =>
  amendments.find(({ content }) => content === null) ?? amendments.at(-1);

/** The message as it is to be shown; its files stay as they are. `sent`: in how many parts it is there already. */
export async function partsOf(
  { store, channels, files }: DeliverDependencies,
  message: MessagesTable & Pick<ConversationRow, "account_id" | "channel">,
  account: { readonly id: string },
  content: string,
  sent = 0,
): Promise<readonly Part[]> {
  const attachments = (await attachmentsOf(store.read, [message])).get(message.id) ?? [];
  const text = { role: "agent", authorName: message.author_name, markdown: content, sources: [] } as const;
  const whole = withFiles(channels, files, message, text, attachments);
  const isApart = whole.files !== undefined && sent > whole.files.length;
  return channels.render(account, isApart ? { ...whole, filesApart: true } : whole);
}

/** The text as it is from now on, for everybody who reads the conversation. */
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
  draft.changes.addWork(indexWork([conversationId], now));
  draft.draft.messageUpdated(messageId);
  return draft.changes.flush(tx);
}

import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { EventHandler } from "../batch.ts";
import { noResult } from "../incoming-event.ts";
import { contextOf } from "../locking.ts";

/** Renames the conversation's thread, unless the new thread has a conversation of its own. */
export const ingestMoved: EventHandler<"moved"> = async ({ tx, conversations }, { account, event }, row) => {
  if (row === undefined) return noResult;
  const target = contextOf(account.id, event.toThread);
  const other = conversations.get(target);
  if (other !== undefined) {
    if (other.id !== row.id) await leadTo(tx, row, other);
    return { ...noResult, conversationId: other.id };
  }
  await tx.updateTable("conversations").set({ context_key: event.toThread }).where("id", "=", row.id).execute();
  row.context_key = event.toThread;
  conversations.delete(contextOf(account.id, event.thread));
  conversations.set(target, row);
  return { ...noResult, conversationId: row.id };
};

/** Later messages of the customer belong to the other conversation, whichever of the names they have. */
async function leadTo(tx: Tx, { id, account_id: accountId }: ConversationRow, other: ConversationRow): Promise<void> {
  await tx
    .updateTable("conversation_links")
    .set({ conversation_id: other.id })
    .where("conversation_id", "=", id)
    .where("account_id", "=", accountId)
    .where("kind", "=", "mark")
    .execute();
}

import type { EventHandler } from "../batch.ts";
import { noResult } from "../incoming-event.ts";
import { contextOf } from "../locking.ts";

/** Renames the conversation's thread, unless the new thread has a conversation of its own. */
export const ingestMoved: EventHandler<"moved"> = async ({ tx, conversations }, { account, event }, row) => {
  const target = contextOf(account.id, event.toThread);
  if (row === undefined || conversations.has(target)) return noResult;
  await tx.updateTable("conversations").set({ context_key: event.toThread }).where("id", "=", row.id).execute();
  row.context_key = event.toThread;
  conversations.delete(contextOf(account.id, event.thread));
  conversations.set(target, row);
  return { ...noResult, conversationId: row.id };
};

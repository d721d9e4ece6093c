import { lockConversation } from "#database/queries/conversations.ts";
import type { UnitOfWork, Draft } from "./draft.ts";
import { createUnitOfWork } from "./unit-of-work.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import { settingsIn } from "#database/queries/workspaces.ts";

/** Locks a conversation of which work knows the id alone, to change it; undefined: it was deleted. */
export async function lockDraft(
  tx: Tx,
  search: ConversationSearch,
  conversationId: string,
  now: number,
): Promise<{ readonly changes: UnitOfWork; readonly draft: Draft } | undefined> {
  const found = await tx
    .selectFrom("conversations")
    .select("workspace_id")
    .where("id", "=", conversationId)
    .executeTakeFirst();
  const row = found === undefined ? undefined : await lockConversation(tx, found.workspace_id, conversationId);
  if (row === undefined) return undefined;
  const changes = createUnitOfWork(now, search);
  return { changes, draft: changes.track(row, await settingsIn(tx, row.workspace_id), false) };
}

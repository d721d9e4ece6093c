import { lockConversation } from "#store/conversations.ts";
import type { Changes, Draft } from "./changes.ts";
import { createChanges } from "./changes.ts";
import type { ConversationSearch, Tx } from "./ports.ts";
import { settingsIn } from "./workspaces.ts";

/** Locks a conversation of which work knows the id alone, to change it; undefined: it was deleted. */
export async function lockDraft(
  tx: Tx,
  search: ConversationSearch,
  conversationId: string,
  now: number,
): Promise<{ readonly changes: Changes; readonly draft: Draft } | undefined> {
  const found = await tx
    .selectFrom("conversations")
    .select("workspace_id")
    .where("id", "=", conversationId)
    .executeTakeFirst();
  const row = found === undefined ? undefined : await lockConversation(tx, found.workspace_id, conversationId);
  if (row === undefined) return undefined;
  const changes = createChanges(now, search);
  return { changes, draft: changes.track(row, await settingsIn(tx, row.workspace_id), false) };
}

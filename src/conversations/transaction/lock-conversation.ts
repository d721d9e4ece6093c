import { awaitTurn, lockConversation } from "#database/queries/conversations.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Clock } from "#runtime/clock.ts";
import { Problem } from "#domain/problem.ts";
import type { UnitOfWork, Draft } from "./draft.ts";
import { createUnitOfWork } from "./unit-of-work.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";
import { settingsIn } from "#database/queries/workspaces.ts";

/** Locks the conversation. Throws a {@link Problem} if the workspace has none of this id. */
export async function requireConversation(tx: Tx, workspaceId: string, id: string): Promise<ConversationRow> {
  const row = await lockConversation(tx, workspaceId, id);
  if (row === undefined) throw new Problem("conversation_not_found", "there is no conversation with this id");
  return row;
}

/** Locks a conversation by its id. Undefined: it was deleted. */
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

/** Runs `change` in a transaction that waits for the conversation's lock. `now` is read after the wait. */
export function writeConversation<T>(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  conversationId: string,
  change: (tx: Tx, now: number) => Promise<T>,
): Promise<T> {
  return store.write(async (tx) => {
    await awaitTurn(tx, conversationId);
    return change(tx, clock.now());
  });
}

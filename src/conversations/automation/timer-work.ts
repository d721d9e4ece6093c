import { wakeTarget } from "#domain/conversation/status.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { timerLane } from "#queue/lanes.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { autoArchiveAt, autoResolveAt } from "./timers.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

/** Applies the due changes of a conversation (snooze, SLA, rules, auto-resolve) and sets its next timer. */
export async function runTimer(
  tx: Tx,
  search: ConversationSearch,
  workspace: Workspace,
  rows: readonly OutboxRow[],
  now: number,
): Promise<Effects | null> {
  await finishWork(tx, rows);
  const { conversationId } = JSON.parse(rows[0]?.payload ?? "{}") as { readonly conversationId: string };
  return settleClock(tx, search, workspace, conversationId, now);
}

async function settleClock(
  tx: Tx,
  search: ConversationSearch,
  workspace: Workspace,
  conversationId: string,
  now: number,
): Promise<Effects | null> {
  const row = await lockConversation(tx, workspace.id, conversationId);
  if (row === undefined) return null;
  const { settings } = workspace;
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, settings, false);
  draft.touch();
  const current = draft.row;
  // The stored timer has fired, or is gone.
  current.timer_at = null;
  if (current.status === "snoozed" && current.snoozed_until !== null && current.snoozed_until <= now) {
    draft.setStatus(wakeTarget(current.snoozed_from), systemActor("snooze"));
  }
  const resolveAt = autoResolveAt(current, settings);
  if (resolveAt !== null && resolveAt <= now) draft.setStatus("resolved", systemActor("auto-resolve"));
  const archiveAt = autoArchiveAt(current, settings);
  if (archiveAt !== null && archiveAt <= now) draft.setStatus("archived", systemActor("auto-archive"));
  return changes.flush(tx);
}

/** Conversations of this workspace whose due timer has not fired yet. */
export async function dueClocks(db: Reader, workspaceId: string, now: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("conversations")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("timer_at", "<=", now)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Like {@link runTimer}, for a caller that needs the exact state now. The timer's own row then finds nothing due. */
export async function settleNow(
  tx: Tx,
  search: ConversationSearch,
  workspace: Workspace,
  conversationId: string,
  now: number,
): Promise<Effects | null> {
  await tx.deleteFrom("outbox").where("lane", "=", timerLane(conversationId)).execute();
  return settleClock(tx, search, workspace, conversationId, now);
}

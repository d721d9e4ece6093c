import { wakeTarget } from "#domain/conversation/status.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { timerLane } from "#queue/lanes.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { autoArchiveAt, autoResolveAt, timerKind } from "./timers.ts";
import type { Clock } from "#runtime/clock.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { writeConversation } from "#conversations/transaction/lock-conversation.ts";
import type { WorkSubjectDependencies } from "#conversations/transaction/work-subject.ts";
import { subjectOfWork } from "#conversations/transaction/work-subject.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

interface TimerDependencies extends WorkSubjectDependencies {
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly publishEffects: PublishEffects;
}

export function declareTimer(dependencies: TimerDependencies): WorkDeclaration {
  const { search, publishEffects } = dependencies;
  return declareWork(timerKind, {
    batch: true,
    attemptsMax: 20,
    async run(rows) {
      const subject = await subjectOfWork(dependencies, rows);
      if (subject === undefined) return;
      const { conversation, workspace } = subject;
      const effects = await writeConversation(dependencies, conversation.id, async (tx, now) => {
        await finishWork(tx, rows);
        return applyDueChanges(tx, search, workspace, conversation.id, now);
      });
      publishEffects(effects);
    },
  });
}

/**
 * Applies the due changes of a conversation: end of a snooze, auto-resolve, auto-archive. `touch` makes `flush` run the
 * due rules and the SLA as well, and set the next timer.
 */
async function applyDueChanges(
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
export async function conversationsWithDueTimer(
  db: Reader,
  workspaceId: string,
  now: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom("conversations")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("timer_at", "<=", now)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Like {@link declareTimer}, for a caller that needs the exact state now. The timer's own row then finds nothing due. */
export async function applyDueChangesNow(
  tx: Tx,
  search: ConversationSearch,
  workspace: Workspace,
  conversationId: string,
  now: number,
): Promise<Effects | null> {
  await tx.deleteFrom("outbox").where("lane", "=", timerLane(conversationId)).execute();
  return applyDueChanges(tx, search, workspace, conversationId, now);
}

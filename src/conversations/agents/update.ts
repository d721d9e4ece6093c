import type { Actor } from "#domain/conversation/message.ts";
import { undoneDetail } from "#domain/conversation/audit-details.ts";
import { wakeTarget } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { insertNote, storedNote } from "#conversations/transaction/insert-note.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { assign, claim } from "#conversations/transaction/owner.ts";
import type { ConversationChange } from "./requests.ts";
import type { Channels } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import { handOver } from "#conversations/delivery/bot-message.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

const tagsMax = 50;

/** Applies the whole change, or throws a {@link Problem} and changes nothing. */
export async function updateConversation(
  tx: Tx,
  channels: Channels,
  search: ConversationSearch,
  workspace: Workspace,
  conversationId: string,
  change: ConversationChange,
  actor: Actor,
  now: number,
): Promise<Effects> {
  const row = await requireConversation(tx, workspace.id, conversationId);
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  if (change.priority !== undefined && change.priority !== draft.row.priority) {
    draft.audit("priority_changed", actor, { from: draft.row.priority, to: change.priority });
    draft.row.priority = change.priority;
    draft.touch();
  }
  // The escalation adds its own tag, and a list of tags in the same change must not remove it.
  const kept = change.status === "escalated" && isNewEscalation(row) ? ["escalated"] : [];
  changeStatus(draft, channels, workspace.settings, change, actor, now);
  await changeTags(tx, draft, change, actor, kept);
  const { clientId } = change;
  for (const [i, note] of (change.notes ?? []).entries()) {
    // Only the first note carries the client's id: a change is atomic, so if that note exists, all notes do.
    const once = clientId === undefined || i > 0 ? note : { ...note, clientId };
    if (once.clientId !== undefined && (await storedNote(tx, draft.row.id, once.clientId)) !== undefined) break;
    await insertNote(tx, draft, once, actor, now);
  }
  return changes.flush(tx);
}

function changeStatus(
  draft: Draft,
  channels: Channels,
  settings: WorkspaceSettings,
  change: ConversationChange,
  actor: Actor,
  now: number,
): void {
  const { status, assignedTo } = change;
  if (change.restore !== undefined) {
    restore(draft, change.restore, actor);
    return;
  }
  if (status === "claimed") {
    if (assignedTo === undefined) throw new Problem("missing_field", "assigned_to is required to claim a conversation");
    claim(draft, assignedTo, actor, change.takeOver);
    return;
  }
  if (status !== undefined) {
    if (status === "snoozed") {
      const until = change.snooze?.kind === "until" ? change.snooze.at : null;
      if (until !== null && until <= now) throw new Problem("invalid_parameter", "snooze_until must be in the future");
      draft.setStatus("snoozed", actor, { snoozedUntil: until });
    } else if (status === "escalated" && isNewEscalation(draft.row)) {
      handOver(draft, channels, settings, actor, {});
    } else {
      draft.setStatus(status, actor);
    }
  }
  if (assignedTo !== undefined) {
    if (draft.row.status !== "claimed") {
      throw new Problem(
        "invalid_transition",
        "assigned_to can be set on a claimed conversation, or together with status claimed",
      );
    }
    assign(draft, assignedTo, actor);
  }
}

function restore(draft: Draft, { status, snooze }: NonNullable<ConversationChange["restore"]>, actor: Actor): void {
  const holder = draft.row.assigned_to;
  const undoes = true;
  draft.setStatus("open", actor, { undoes, reason: undoneDetail });
  if (status === "claimed" && holder !== null) {
    draft.setStatus("claimed", actor, { undoes });
    draft.audit("assigned", actor, { from: null, to: holder });
    draft.row.assigned_to = holder;
  } else if (status === "escalated") draft.setStatus("escalated", actor, { undoes });
  if (snooze !== undefined) {
    const until = snooze.kind === "until" ? snooze.at : null;
    if (until === null || until > draft.now) draft.setStatus("snoozed", actor, { undoes, snoozedUntil: until });
  }
  // One event for all steps, with the final state.
  draft.emit("conversation.reopened", actor, { previousStatus: "resolved" });
}

/** Returning to agents from a snooze is no new escalation for the customer. */
function isNewEscalation({ status, snoozed_from }: ConversationRow): boolean {
  return status === "open" || (status === "snoozed" && wakeTarget(snoozed_from) === "open");
}

async function changeTags(
  tx: Tx,
  draft: Draft,
  change: ConversationChange,
  actor: Actor,
  kept: readonly string[],
): Promise<void> {
  if (change.tags === undefined && change.addTags === undefined && change.removeTags === undefined) return;
  const before = (
    await tx.selectFrom("conversation_tags").select("tag").where("conversation_id", "=", draft.row.id).execute()
  ).map(({ tag }) => tag);
  const after = new Set([...(change.tags ?? before), ...(change.addTags ?? [])]);
  for (const tag of change.removeTags ?? []) after.delete(tag);
  if (after.size > tagsMax) throw new Problem("invalid_parameter", `tags: a conversation has at most ${tagsMax}`);
  draft.setTags(
    [...after].filter((tag) => !before.includes(tag)),
    before.filter((tag) => !after.has(tag) && !kept.includes(tag)),
    actor,
  );
}

import { nextSlaChange } from "#domain/conversation/sla.ts";
import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";
import { ruleDueAt } from "./rules.ts";

const dayMs = 86_400_000;

/** The changes of a conversation that are due by time. */
export const timerKind = workKind("timer", Type.Object({ conversationId: Type.String() }));

/** Returns the time of auto-resolve. The days count from the last message, or from a later reopening. */
export function autoResolveAt(row: ConversationRow, settings: WorkspaceSettings): number | null {
  if (row.status !== "open" || settings.autoResolveDays === null) return null;
  return Math.max(row.last_message_at, row.sla_running_since ?? 0) + settings.autoResolveDays * dayMs;
}

export function autoArchiveAt(row: ConversationRow, settings: WorkspaceSettings): number | null {
  if (row.status !== "resolved" || settings.autoArchiveDays === null || row.resolved_at === null) return null;
  return row.resolved_at + settings.autoArchiveDays * dayMs;
}

/** Null for times that rules have handled already. */
const dueRule = (row: ConversationRow, at: number | null): number | null =>
  at !== null && at > row.rules_until ? at : null;

/**
 * Returns the time of the conversation's next timer in epoch milliseconds, or null. One outbox row per conversation is due
 * at this time or earlier.
 */
export function nextTimer(row: ConversationRow, settings: WorkspaceSettings, now: number): number | null {
  const times = [
    row.status === "snoozed" ? row.snoozed_until : null,
    autoResolveAt(row, settings),
    autoArchiveAt(row, settings),
    nextSlaChange(slaClock(row), settings.slaTargets[row.priority], now),
    ...settings.rules.map((rule) => dueRule(row, ruleDueAt(row, rule))),
  ].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

import type { Progress, Resolution } from "#domain/reporting/tally.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";

/** The progress that a conversation's row holds. `openedAt`: its `opened_at`, which is null if it is not counted yet. */
export function progressOf(row: ConversationRow, openedAt: number, tags: Iterable<string>): Progress {
  return {
    status: row.status,
    snoozedFrom: row.snoozed_from,
    assignedTo: row.assigned_to,
    priority: row.priority,
    clock: slaClock(row),
    startedAt: row.started_at,
    openedAt,
    resolution: row.resolution === null ? null : (JSON.parse(row.resolution) as Resolution),
    awaitedSince: row.awaited_since,
    replied: row.replied === 1,
    botReplied: row.bot_replied === 1,
    peopleInvolved: row.people_involved === 1,
    tags: new Set(tags),
  };
}

/** The columns that only reports use. The others are those of the conversation itself. */
export function progressColumns(progress: Progress) {
  const { openedAt, resolution, awaitedSince, replied, botReplied, peopleInvolved } = progress;
  return {
    opened_at: openedAt,
    resolution: resolution === null ? null : JSON.stringify(resolution),
    awaited_since: awaitedSince,
    replied: replied ? 1 : 0,
    bot_replied: botReplied ? 1 : 0,
    people_involved: peopleInvolved ? 1 : 0,
  } as const;
}

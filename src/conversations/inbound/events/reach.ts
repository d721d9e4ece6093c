import { noteProblem } from "#conversations/delivery/failures.ts";
import type { EventHandler } from "../batch.ts";
import { noResult } from "../incoming-event.ts";

/** Records whether the customer can be reached in the thread. */
export const ingestReach: EventHandler<"reach"> = async ({ tx, changes, now }, { workspace, event }, row) => {
  if (row === undefined) return noResult;
  const draft = changes.track(row, workspace.settings, false);
  const unreachable = event.reachable ? null : event.reason;
  // Platforms repeat this event, and every refused message reports the same state.
  if ((draft.row.unreachable === null) !== event.reachable) await noteProblem(tx, draft, event.reason, now);
  if (draft.row.unreachable !== unreachable) {
    draft.row.unreachable = unreachable;
    draft.touch();
  }
  return { ...noResult, conversationId: row.id };
};

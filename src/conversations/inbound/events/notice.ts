import { noteProblem } from "#conversations/delivery/failures.ts";
import { noteFromPlatform } from "#conversations/delivery/platform-sync.ts";
import type { EventHandler } from "../batch.ts";
import { noResult } from "../incoming-event.ts";

/** Stores a note for agents: written by a person on the platform, or a hint from the adapter. */
export const ingestNotice: EventHandler<"notice"> = async ({ tx, changes, now }, { workspace, event }, row) => {
  if (row === undefined) return noResult;
  const draft = changes.track(row, workspace.settings, false);
  if (event.author === undefined) await noteProblem(tx, draft, event.text, now);
  else await noteFromPlatform(tx, draft, event.author, event.text, now);
  return { ...noResult, conversationId: row.id };
};

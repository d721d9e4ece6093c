import { applyPlatformStatus } from "#conversations/delivery/platform-sync.ts";
import type { EventHandler } from "../batch.ts";
import { noResult } from "../incoming-event.ts";

/** Applies a status change that was made on the platform, unless a later one is stored. */
export const ingestState: EventHandler<"state"> = ({ changes, now }, { account, workspace, event }, row) => {
  if (row === undefined) return noResult;
  const draft = changes.track(row, workspace.settings, false);
  if (event.order <= (draft.row.platform_order ?? "")) return { ...noResult, conversationId: row.id };
  draft.row.platform_order = event.order;
  draft.touch();
  // Our own change is already stored. Its order number still makes older events obsolete.
  if (event.change.kind !== "ours") applyPlatformStatus(draft, event, account.channel, now);
  return { ...noResult, conversationId: row.id };
};

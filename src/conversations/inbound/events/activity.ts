import { isCustomerOf } from "#conversations/feedback/customer-of.ts";
import type { EventHandler } from "../batch.ts";
import { noResult } from "../incoming-event.ts";

/** Opens the reply window, as the platform does. The conversation and its reports stay as they are. */
export const ingestActivity: EventHandler<"activity"> = async (
  { tx, changes, now },
  { account, workspace, event },
  row,
) => {
  if (row === undefined) return noResult;
  const result = { ...noResult, conversationId: row.id };
  if (row.account_id !== account.id || !(await isCustomerOf(tx, row, account.channel, event.sender))) return result;
  const draft = changes.track(row, workspace.settings, false);
  draft.row.customer_wrote_at = Math.max(row.customer_wrote_at ?? 0, Math.min(event.sentAt, now));
  draft.touch();
  return result;
};

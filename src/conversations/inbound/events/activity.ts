import type { Draft } from "#conversations/transaction/draft.ts";
import { isCustomerOf } from "#conversations/feedback/customer-of.ts";
import type { EventHandler, IngestBatch } from "../batch.ts";
import type { EventOf, IncomingEvent } from "../incoming-event.ts";
import { noResult } from "../incoming-event.ts";

type Activity = IncomingEvent<EventOf<"activity" | "feedback" | "rating">>;

/** Keeps the reply window open, as the platform does. */
export const ingestActivity: EventHandler<"activity"> = async (batch, incoming, row) => {
  const { account, workspace, event } = incoming;
  if (row === undefined) return noResult;
  if (await isCustomerOf(batch.tx, row, account.channel, event.sender)) {
    openWindow(batch, batch.changes.track(row, workspace.settings, false), incoming);
  }
  return { ...noResult, conversationId: row.id };
};

/** What the customer does by a button or a reaction is no message, and opens the reply window as one does. */
export function openWindow({ now }: Pick<IngestBatch, "now">, draft: Draft, { account, event }: Activity): void {
  const { row } = draft;
  if (row.account_id !== account.id) return;
  row.customer_wrote_at = Math.max(row.customer_wrote_at ?? 0, Math.min(event.sentAt, now));
  draft.touch();
}

import type { Status } from "#domain/conversation/status.ts";
import type { Reader } from "#database/contract.ts";
import { countSkipped } from "#database/queries/accounts/skipped-messages.ts";
import type { Counts } from "#http/inbox/wire.ts";

/** A count that reaches it is shown as "100 or more", so the database stops there. */
const countMax = 100;

/** Conversations in each view of this agent, at most {@link countMax}. */
export async function countViews(db: Reader, workspaceId: string, me: string): Promise<Counts> {
  const count = async (status: Status, assignee?: string): Promise<number> => {
    const { value } = await db
      .selectFrom((eb) => {
        const found = eb
          .selectFrom("conversations")
          .select("id")
          .where("workspace_id", "=", workspaceId)
          .where("status", "=", status);
        return (assignee === undefined ? found : found.where("assigned_to", "=", assignee)).limit(countMax).as("some");
      })
      .select((eb) => eb.fn.countAll().as("value"))
      .executeTakeFirstOrThrow();
    return Number(value);
  };
  const [open, escalated, snoozed, claimed, ownSnoozed, skipped] = await Promise.all([
    count("open"),
    count("escalated"),
    count("snoozed"),
    count("claimed", me),
    count("snoozed", me),
    countSkipped(db, workspaceId, countMax),
  ]);
  return {
    unassigned: Math.min(countMax, open + escalated),
    mine: Math.min(countMax, claimed + ownSnoozed),
    escalated,
    open,
    snoozed,
    skippedMessages: skipped,
  };
}

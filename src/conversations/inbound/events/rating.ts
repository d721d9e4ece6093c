import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { SurveysTable } from "#database/schema/feedback.ts";
import { addRating, surveyOf } from "#conversations/feedback/ratings.ts";
import { isCustomerOf } from "#conversations/feedback/customer-of.ts";
import type { EventHandler } from "../batch.ts";
import type { EventOf } from "#channels/inbound-event.ts";
import { noResult } from "../incoming-event.ts";

/** Stores a rating that the customer gave by a button. It does not open the conversation again. */
export const ingestRating: EventHandler<"rating"> = async ({ tx, changes }, { account, workspace, event }, row) => {
  if (row === undefined) return noResult;
  const survey = await surveyIn(tx, row, account.id, event);
  const result = { ...noResult, conversationId: row.id };
  if (survey === undefined || !(await isCustomerOf(tx, row, account.channel, event.sender))) return result;
  const actor = { type: "customer", id: row.contact_id, name: row.customer_name } as const;
  const isAdded = await addRating(tx, changes.track(row, workspace.settings, false), survey, event, actor);
  return { ...result, seq: survey.seq, messageId: isAdded ? survey.message_id : null };
};

/** The survey that the event names by our id, or by the platform's id of one of its parts. */
async function surveyIn(
  tx: Tx,
  row: ConversationRow,
  accountId: string,
  { of }: EventOf<"rating">,
): Promise<SurveysTable | undefined> {
  const survey = await surveyOf(tx, row);
  if (survey === undefined) return undefined;
  if ("messageId" in of) return of.messageId === survey.message_id ? survey : undefined;
  const part = await tx
    .selectFrom("deliveries")
    .select("id")
    .where("message_id", "=", survey.message_id)
    .where("account_id", "=", accountId)
    .where("external_id", "=", of.partExternalId)
    .executeTakeFirst();
  return part === undefined ? undefined : survey;
}

import type { Tx } from "#database/contract.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { isCustomerOf } from "#conversations/feedback/customer-of.ts";
import type { EventHandler } from "../batch.ts";
import type { EventOf } from "#channels/inbound-event.ts";
import { noResult } from "../incoming-event.ts";

type Feedback = EventOf<"feedback">;

/** Stores a customer's opinion of an answer of the bot. The last one counts. */
export const ingestFeedback: EventHandler<"feedback"> = async ({ tx, changes }, { account, workspace, event }, row) => {
  if (row === undefined) return noResult;
  const answer = await answerOf(tx, row.id, account.id, event);
  if (answer === undefined || !(await isCustomerOf(tx, row, account.channel, event.sender))) {
    return { ...noResult, conversationId: row.id };
  }
  const result = { ...noResult, conversationId: row.id, messageId: answer.id };
  const before = await tx
    .selectFrom("answer_feedback")
    .select(["at", "value"])
    .where("message_id", "=", answer.id)
    .where("sender", "=", event.sender.key)
    .executeTakeFirst();
  if (before !== undefined && before.at > event.sentAt) return { ...result, isObsolete: true };
  const { value } = event;
  if ((before?.value ?? null) === value) return result;
  const stored = { message_id: answer.id, sender: event.sender.key, conversation_id: row.id, value, at: event.sentAt };
  await insertRows(tx, "answer_feedback", [stored], { keys: ["message_id", "sender"], replace: ["value", "at"] });
  const draft = changes.track(row, workspace.settings, false);
  draft.touch();
  if (answer.answers_seq === null) return result;
  if (value === "down") draft.addWeakAnswer(answer.answers_seq, "disliked");
  else if (before?.value === "down" && !(await isDisliked(tx, answer.id))) draft.removeDislike(answer.answers_seq);
  return result;
};

/** The answer that the event names by our id, or by the platform's id of one of its parts. */
async function answerOf(tx: Tx, conversationId: string, accountId: string, { of }: Feedback) {
  const answers = tx
    .selectFrom("messages as message")
    .select(["message.id", "message.answers_seq"])
    .where("message.conversation_id", "=", conversationId)
    .where("message.kind", "in", ["answer", "refusal"])
    .where("message.deleted_at", "is", null);
  if ("messageId" in of) return answers.where("message.id", "=", of.messageId).executeTakeFirst();
  return answers
    .innerJoin("deliveries as delivery", "delivery.message_id", "message.id")
    .where("delivery.account_id", "=", accountId)
    .where("delivery.external_id", "=", of.partExternalId)
    .executeTakeFirst();
}

/** Whether a customer dislikes the answer, after the change. */
async function isDisliked(tx: Tx, messageId: string): Promise<boolean> {
  const row = await tx
    .selectFrom("answer_feedback")
    .select("sender")
    .where("message_id", "=", messageId)
    .where("value", "=", "down")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

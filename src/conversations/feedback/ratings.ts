import type { Tx } from "#database/contract.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { RatingsTable, SurveysTable } from "#database/schema/feedback.ts";
import type { Actor, Score } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";
import type { Draft } from "#conversations/transaction/draft.ts";

const commentMax = 2_000;

export interface NewRating {
  readonly score: Score;
  readonly comment?: string;
}

/** Undefined: the conversation has no survey. */
export function surveyOf(tx: Tx, { id }: Pick<ConversationRow, "id">): Promise<SurveysTable | undefined> {
  return tx.selectFrom("surveys").selectAll().where("conversation_id", "=", id).executeTakeFirst();
}

/**
 * Stores the customer's rating of a conversation whose survey was sent. The first score counts: reports have counted it.
 * A comment that follows is added to it. Returns false if nothing has changed. The conversation must be locked.
 */
export async function addRating(
  tx: Tx,
  draft: Draft,
  { agent }: SurveysTable,
  { score, comment: given }: NewRating,
  actor: Actor,
): Promise<boolean> {
  const { row, now } = draft;
  const comment = given === undefined || given.trim() === "" ? null : given.trim().slice(0, commentMax);
  const before = await tx.selectFrom("ratings").selectAll().where("conversation_id", "=", row.id).executeTakeFirst();
  if (before !== undefined && (before.score !== score || before.comment !== null || comment === null)) return false;
  const rating: RatingsTable = {
    id: before?.id ?? newId("rat", now),
    workspace_id: row.workspace_id,
    conversation_id: row.id,
    score,
    comment,
    channel: row.channel,
    agent,
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
  await insertRows(tx, "ratings", [rating], { keys: ["id"], replace: ["comment", "updated_at"] });
  // Reports count the entry. The comment is kept in the rating alone, so that an erasure finds it.
  if (before === undefined) draft.audit("rated", actor, { from: agent, to: String(score) });
  draft.emit(before === undefined ? "rating.created" : "rating.updated", actor, { rating });
  draft.touch();
  return true;
}

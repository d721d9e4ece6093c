import type { Reader } from "#database/contract.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { Score } from "#domain/conversation/message.ts";
import type { ThreadMessage } from "#channels/contract.ts";

type Row = Pick<MessagesTable, "id" | "conversation_id" | "kind">;

interface Opinions {
  /** The last opinion of each answer, by message. */
  readonly opinions: ReadonlyMap<string, ThreadMessage["feedback"]>;
  /** The rating of each conversation. */
  readonly ratings: ReadonlyMap<string, NonNullable<ThreadMessage["rating"]>>;
}

/** The customers' opinions of the answers and surveys among these messages. */
export async function opinionsOf(db: Reader, rows: readonly Row[]): Promise<Opinions> {
  const answers = rows.filter(({ kind }) => kind === "answer" || kind === "refusal").map(({ id }) => id);
  const surveyed = rows.filter(({ kind }) => kind === "survey").map(({ conversation_id: id }) => id);
  const feedback =
    answers.length === 0
      ? []
      : await db
          .selectFrom("answer_feedback")
          .select(["message_id", "value"])
          .where("message_id", "in", answers)
          .orderBy("at")
          .execute();
  const ratings =
    surveyed.length === 0
      ? []
      : await db
          .selectFrom("ratings")
          .select(["conversation_id", "score", "comment"])
          .where("conversation_id", "in", surveyed)
          .execute();
  return {
    opinions: new Map(feedback.map(({ message_id: id, value }) => [id, value])),
    ratings: new Map(
      ratings.map(({ conversation_id: id, score, comment }) => [
        id,
        { score: score as Score, commented: comment !== null },
      ]),
    ),
  };
}

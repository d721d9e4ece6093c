import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { askedForPerson } from "#domain/conversation/audit-details.ts";
import { shortened } from "./shortened.ts";

/** Characters of an earlier question: what follows it must be on the card, too. */
const earlierMax = 90;

/**
 * The customer's last message before the hand-over; without a hand-over, the first message. Where the customer asked for a
 * person, the question that was answered last comes first: "I want a person" does not say what for. Deleted messages and
 * files without a text are passed over.
 */
export async function cardQuestion(db: Reader, { id, people_involved }: ConversationRow): Promise<string> {
  const handedOver = people_involved === 0 ? undefined : await lastHandOver(db, id);
  const written = db
    .selectFrom("messages")
    .select("content")
    .where("conversation_id", "=", id)
    .where("role", "=", "user")
    .where("content", "<>", "")
    .where("deleted_at", "is", null);
  if (handedOver === undefined) return (await written.orderBy("seq").executeTakeFirst())?.content ?? "";
  const before = written.where("created_at", "<=", handedOver.created_at).orderBy("seq", "desc");
  const last = (await before.executeTakeFirst())?.content ?? "";
  if (handedOver.detail !== askedForPerson) return last;
  const answered = await before
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("messages as answer")
          .select("answer.id")
          .where("answer.conversation_id", "=", id)
          .whereRef("answer.answers_seq", "=", "messages.seq")
          .where("answer.kind", "in", ["answer", "refusal"]),
      ),
    )
    .executeTakeFirst();
  if (answered === undefined || answered.content === last) return last;
  return `${shortened(answered.content, earlierMax)} · ${last}`;
}

/** From the bot to people; the end of a snooze is none. */
const lastHandOver = (db: Reader, conversationId: string) =>
  db
    .selectFrom("audit")
    .select(["created_at", "detail"])
    .where("conversation_id", "=", conversationId)
    .where("action", "=", "status_changed")
    .where("from_value", "=", "open")
    .where("to_value", "=", "escalated")
    .orderBy("id", "desc")
    .executeTakeFirst();

import type { BotLimit } from "#channels/inbound-event.ts";
import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { emailKey } from "#database/queries/conversations.ts";

const minuteMs = 60_000;
/** People do not read and ask so often for so long. A program that answers the bot does, at once or after a while. */
const defaultLimits: readonly BotLimit[] = [
  { max: 60, withinMs: 10 * minuteMs },
  { max: 120, withinMs: 60 * minuteMs },
];

/** Messages that are read to count, as a multiple of the limit: others write in a group, too. */
const readShare = 10;

/**
 * Returns why the bot must not answer this message of the sender; undefined: it may. Two programs could otherwise answer
 * each other forever.
 */
export async function overBotLimit(
  tx: Tx,
  row: ConversationRow,
  senderId: string,
  now: number,
  given: BotLimit | undefined,
): Promise<string | undefined> {
  const limits = given === undefined ? defaultLimits : given.email === undefined ? [given] : [given, ...defaultLimits];
  for (const { max, withinMs, email } of limits) {
    const since = now - withinMs;
    const isOver =
      email === undefined
        ? await isOverHere(tx, row, senderId, max, since)
        : await isOverTo(tx, row, email, max, since);
    if (!isOver) continue;
    const time = withinMs === 60 * minuteMs ? "an hour" : `${Math.round(withinMs / minuteMs)} minutes`;
    const written =
      email === undefined ? `answered this sender ${max} times here` : `written ${max} messages to ${email}`;
    return `The bot has ${written} within ${time}, and stops: another program may be answering it. Answer yourself if it is a person.`;
  }
  return undefined;
}

/** Counts the answers to this sender: in a group, many people read what the bot writes. */
async function isOverHere(
  tx: Tx,
  { id, last_seq: seq }: ConversationRow,
  senderId: string,
  max: number,
  since: number,
) {
  // Most conversations are too short, and cost no statement.
  if (seq < max) return false;
  const { count } = await tx
    .selectFrom("messages as answer")
    .innerJoin("messages as asked", (join) =>
      join.onRef("asked.conversation_id", "=", "answer.conversation_id").onRef("asked.seq", "=", "answer.answers_seq"),
    )
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("answer.conversation_id", "=", id)
    .where("answer.seq", ">", seq - max * readShare)
    .where("answer.role", "=", "assistant")
    .where("answer.created_at", ">", since)
    .where("asked.author_id", "=", senderId)
    .executeTakeFirstOrThrow();
  return count >= max;
}

async function isOverTo(
  tx: Tx,
  { workspace_id: workspaceId }: ConversationRow,
  email: string,
  max: number,
  since: number,
) {
  const { count } = await tx
    .selectFrom("conversations as conversation")
    .innerJoin("messages as message", "message.conversation_id", "conversation.id")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("conversation.workspace_id", "=", workspaceId)
    .where("conversation.customer_email_key", "=", emailKey(email))
    .where("conversation.last_message_at", ">", since)
    .where("message.role", "=", "assistant")
    .where("message.created_at", ">", since)
    .executeTakeFirstOrThrow();
  return count >= max;
}

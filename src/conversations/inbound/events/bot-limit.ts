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

/**
 * Returns why the bot must not answer this message; undefined: it may. Two programs could otherwise answer each other
 * forever.
 */
export async function overBotLimit(
  tx: Tx,
  row: ConversationRow,
  now: number,
  given: BotLimit | undefined,
): Promise<string | undefined> {
  for (const limit of given === undefined ? defaultLimits : [given]) {
    const reason = await over(tx, row, now, limit);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

async function over(
  tx: Tx,
  row: ConversationRow,
  now: number,
  { max, withinMs, email }: BotLimit,
): Promise<string | undefined> {
  const since = now - withinMs;
  const isOver =
    email === undefined ? await isOverHere(tx, row, max, since) : await isOverTo(tx, row, email, max, since);
  if (!isOver) return undefined;
  const time = withinMs === 60 * minuteMs ? "an hour" : `${Math.round(withinMs / minuteMs)} minutes`;
  return `The bot has written ${max} messages ${email === undefined ? "here" : `to ${email}`} within ${time}, and stops: another program may be answering it. Answer yourself if it is a person.`;
}

async function isOverHere(tx: Tx, { id, last_seq: seq }: ConversationRow, max: number, since: number) {
  // Most conversations are too short, and cost no statement.
  if (seq < max) return false;
  const oldest = await tx
    .selectFrom("messages")
    .select("created_at")
    .where("conversation_id", "=", id)
    .where("role", "=", "assistant")
    .orderBy("seq", "desc")
    .limit(1)
    .offset(max - 1)
    .executeTakeFirst();
  return oldest !== undefined && oldest.created_at > since;
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

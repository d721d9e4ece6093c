import type { RecentThread } from "#channels/contract.ts";
import { statuses } from "#domain/conversation/status.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { Reader } from "#database/contract.ts";

/** Maximum for each status; further conversations are left out, oldest first. */
const eachMax = 1_000;

/**
 * Returns the account's threads with messages since a time, each with its customer's newest known message. For adapters
 * that look for missed messages.
 */
export async function recentThreads(
  db: Reader,
  account: { readonly id: string; readonly workspaceId: string; readonly channel: Channel },
  since: number,
): Promise<readonly RecentThread[]> {
  const found: RecentThread[] = [];
  for (const status of statuses.filter((each) => each !== "archived")) {
    const rows = await db
      .selectFrom("conversations as conversation")
      .select((eb) => [
        "conversation.context_key as thread",
        eb
          .selectFrom("messages as message")
          .select("message.external_id")
          .whereRef("message.conversation_id", "=", "conversation.id")
          .where("message.role", "=", "user")
          .where("message.external_id", "is not", null)
          .orderBy("message.seq", "desc")
          .limit(1)
          .as("newestExternalId"),
      ])
      .where("conversation.workspace_id", "=", account.workspaceId)
      .where("conversation.channel", "=", account.channel)
      .where("conversation.status", "=", status)
      .where("conversation.account_id", "=", account.id)
      .where("conversation.last_message_at", ">", since)
      .orderBy("conversation.started_at", "desc")
      .limit(eachMax)
      .execute();
    found.push(...rows);
  }
  return found;
}

/** Returns the account's threads with this prefix, in any status. `prefix` must end in an ASCII character. */
export async function threadsBeginning(db: Reader, accountId: string, prefix: string): Promise<readonly string[]> {
  const end = prefix.slice(0, -1) + String.fromCodePoint((prefix.codePointAt(prefix.length - 1) ?? 0) + 1);
  const rows = await db
    .selectFrom("conversations")
    .select("context_key")
    .where("account_id", "=", accountId)
    .where("context_key", ">=", prefix)
    .where("context_key", "<", end)
    .execute();
  return rows.map(({ context_key: thread }) => thread);
}

/** Returns the thread of a message that is known by its receipt, or by the event that brought it. */
export async function threadOfMessage(
  db: Reader,
  account: { readonly id: string },
  { partId, eventId }: { readonly partId: string; readonly eventId: string },
): Promise<string | null> {
  const threads = db
    .selectFrom("conversations as conversation")
    .select("conversation.context_key as thread")
    .where("conversation.account_id", "=", account.id)
    .limit(1);
  const sent = threads
    .innerJoin("deliveries as delivery", "delivery.conversation_id", "conversation.id")
    .where("delivery.account_id", "=", account.id)
    .where("delivery.external_id", "=", partId);
  const received = threads
    .innerJoin("inbound_events as event", "event.conversation_id", "conversation.id")
    .where("event.account_id", "=", account.id)
    .where("event.external_id", "=", eventId);
  const found = (await sent.executeTakeFirst()) ?? (await received.executeTakeFirst());
  return found?.thread ?? null;
}

import { conversationOfThread } from "#database/queries/desk.ts";
import { RetryLater } from "#queue/retry-later.ts";
import type { Reader } from "#database/contract.ts";

/**
 * Returns the conversation of a thread at the desk, or undefined. Throws {@link RetryLater} while a new card may be posted
 * whose id is not stored yet.
 */
export async function conversationAt(read: Reader, accountId: string, thread: string): Promise<string | undefined> {
  const known = await conversationOfThread(read, accountId, thread);
  if (known !== undefined) return known;
  const mayBegin = await isBeginning(read, accountId);
  // Looks again: a card that was stored meanwhile is known now, and messages below it must not be lost.
  const now = await conversationOfThread(read, accountId, thread);
  if (now === undefined && mayBegin) throw new RetryLater("a thread at the desk is being begun", 1_000, undefined);
  return now;
}

async function isBeginning(read: Reader, accountId: string): Promise<boolean> {
  const row = await read
    .selectFrom("desk_threads")
    .select("conversation_id")
    .where("account_id", "=", accountId)
    .where("state", "=", "opening")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

import { conversationOfThread } from "#database/queries/desk.ts";
import { RetryLater } from "#conversations/delivery/retry-later.ts";
import type { Reader } from "#database/contract.ts";

/**
 * Whose thread at the desk this is; undefined for one that is no conversation's. Where a card may be posted that we do not
 * know yet, it has to be asked again later.
 */
export async function conversationAt(read: Reader, accountId: string, thread: string): Promise<string | undefined> {
  const known = await conversationOfThread(read, accountId, thread);
  if (known !== undefined) return known;
  const mayBegin = await isBeginning(read, accountId);
  // A card that became known since the first look is no beginning any more, and what was written below it would be lost.
  const now = await conversationOfThread(read, accountId, thread);
  if (now === undefined && mayBegin) throw new RetryLater("a thread at the desk is being begun", 1_000, undefined);
  return now;
}

async function isBeginning(read: Reader, accountId: string): Promise<boolean> {
  const row = await read
    .selectFrom("desk_threads")
    .select("conversation_id")
    .where("account_id", "=", accountId)
    .where("external_id", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

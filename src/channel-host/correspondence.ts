import type { Correspondence } from "#channels/contract.ts";
import type { Reader } from "#database/contract.ts";

/** The conversation of a thread. `isOwn`: false when a conversation of another account continues here. */
async function conversationAt(db: Reader, accountId: string, thread: string) {
  const own = await db
    .selectFrom("conversations")
    .select(["id", "customer_email", "customer_name", "customer_wrote_at"])
    .where("account_id", "=", accountId)
    .where("context_key", "=", thread)
    .executeTakeFirst();
  if (own !== undefined) return { row: own, isOwn: true };
  const row = await db
    .selectFrom("conversation_links as link")
    .innerJoin("conversations as conversation", "conversation.id", "link.conversation_id")
    .select([
      "conversation.id",
      "conversation.customer_email",
      "conversation.customer_name",
      "conversation.customer_wrote_at",
    ])
    .where("link.account_id", "=", accountId)
    .where("link.kind", "=", "thread")
    .where("link.name", "=", thread)
    .executeTakeFirst();
  return row === undefined ? undefined : { row, isOwn: false };
}

export async function readCorrespondence(
  db: Reader,
  accountId: string,
  thread: string,
  limit: number,
): Promise<Correspondence | null> {
  const found = await conversationAt(db, accountId, thread);
  if (found === undefined) return null;
  const { row, isOwn } = found;
  const messages = await db
    .selectFrom("messages")
    .select(["id", "role", "content", "external_id", "created_at", "metadata"])
    .where("conversation_id", "=", row.id)
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
  return {
    email: row.customer_email,
    name: row.customer_name,
    wroteAt: isOwn ? row.customer_wrote_at : null,
    messages: messages.map(({ id, role, content, external_id, created_at, metadata: stored }) => {
      const metadata = stored === null ? {} : (JSON.parse(stored) as Readonly<Record<string, unknown>>);
      const guest = metadata["guest"] === true;
      return { id, role, content, externalId: external_id, createdAt: created_at, guest, metadata };
    }),
  };
}

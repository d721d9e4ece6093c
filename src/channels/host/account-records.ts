import type { ChannelHost, Correspondence } from "#channels/contract.ts";
import { emailKey } from "#database/queries/conversations.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store } from "#database/contract.ts";

type Records = Pick<
  ChannelHost,
  "exchange" | "remember" | "recall" | "threadOf" | "correspondence" | "agent" | "botMessagesTo" | "botMessagesIn"
>;

/** What an adapter may keep and look up of its account. */
export function createAccountRecords(
  store: Store,
  account: { readonly id: string; readonly workspaceId: string },
  clock: Clock,
): Records {
  return {
    async remember(key, value) {
      const row = { account_id: account.id, name: key, value, updated_at: clock.now(), expires_at: null };
      await store.write(async (tx) => {
        const insert = tx.insertInto("account_state").values(row);
        // Kept for good from now on, also where it was to be forgotten before.
        const { account_id: _account, name: _name, ...next } = row;
        await (
          dialectOf(tx) === "mysql"
            ? insert.onDuplicateKeyUpdate(next)
            : insert.onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(next))
        ).execute();
      });
    },
    async exchange(key, before, after, lifetimeMs) {
      const now = clock.now();
      const row = { value: after, updated_at: now, expires_at: now + lifetimeMs };
      try {
        return await store.write(async (tx) => {
          if (before === null) {
            await tx
              .insertInto("account_state")
              .values({ account_id: account.id, name: key, ...row })
              .execute();
            return true;
          }
          const { numUpdatedRows } = await tx
            .updateTable("account_state")
            .set(row)
            .where("account_id", "=", account.id)
            .where("name", "=", key)
            .where("value", "=", before)
            .executeTakeFirstOrThrow();
          return numUpdatedRows > 0n;
        });
      } catch (error) {
        if (before === null && isDuplicate(error)) return false;
        throw error;
      }
    },
    async recall(key) {
      const row = await store.read
        .selectFrom("account_state")
        .select("value")
        .where("account_id", "=", account.id)
        .where("name", "=", key)
        .executeTakeFirst();
      return row?.value ?? null;
    },
    async threadOf(marks) {
      if (marks.length === 0) return null;
      const rows = await store.read
        .selectFrom("conversation_links as link")
        .innerJoin("conversations as conversation", "conversation.id", "link.conversation_id")
        .select(["link.name", "conversation.id", "conversation.account_id", "conversation.context_key"])
        .where("link.account_id", "=", account.id)
        .where("link.kind", "=", "mark")
        .where("link.name", "in", marks)
        .execute();
      const found = marks.map((mark) => rows.find(({ name }) => name === mark)).find((row) => row !== undefined);
      if (found === undefined) return null;
      // A conversation of another account goes on here under its own id.
      return found.account_id === account.id ? found.context_key : found.id;
    },
    correspondence: (thread, limit) => correspondence(store.read, account.id, thread, limit),
    async agent(email) {
      const row = await store.read
        .selectFrom("agents")
        .select(["email", "name"])
        .where("workspace_id", "=", account.workspaceId)
        .where("email", "=", email.toLowerCase())
        .executeTakeFirst();
      return row ?? null;
    },
    async botMessagesTo(email, since) {
      const row = await store.read
        .selectFrom("conversations as conversation")
        .innerJoin("messages as message", "message.conversation_id", "conversation.id")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("conversation.workspace_id", "=", account.workspaceId)
        .where("conversation.customer_email_key", "=", emailKey(email))
        .where("conversation.last_message_at", ">", since)
        .where("message.role", "=", "assistant")
        .where("message.created_at", ">", since)
        .executeTakeFirstOrThrow();
      return row.count;
    },
    async botMessagesIn(thread, since) {
      const conversation = await conversationAt(store.read, account.id, thread);
      if (conversation === undefined) return 0;
      const { count } = await store.read
        .selectFrom("messages")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("conversation_id", "=", conversation.row.id)
        .where("role", "=", "assistant")
        .where("created_at", ">", since)
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}

/** The conversation of a thread; `isOwn`: not one of another account that goes on here. */
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

async function correspondence(
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
    .select(["id", "role", "external_id", "created_at", "metadata"])
    .where("conversation_id", "=", row.id)
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
  return {
    email: row.customer_email,
    name: row.customer_name,
    wroteAt: isOwn ? row.customer_wrote_at : null,
    messages: messages.map(({ id, role, external_id, created_at, metadata: stored }) => {
      const metadata = stored === null ? {} : (JSON.parse(stored) as Readonly<Record<string, unknown>>);
      return { id, role, externalId: external_id, createdAt: created_at, guest: metadata["guest"] === true, metadata };
    }),
  };
}

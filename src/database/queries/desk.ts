import { createHash } from "node:crypto";
import type { Reader, Tx } from "#database/contract.ts";
import type { DeskPostsTable, DeskThreadsTable } from "#database/schema/desk.ts";

/** The tags of a conversation, which decide in which channel it is shown. */
export async function tagsOf(db: Reader | Tx, conversationId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("conversation_tags")
    .select("tag")
    .where("conversation_id", "=", conversationId)
    .execute();
  return rows.map(({ tag }) => tag);
}

/** The ones of these conversations that have, or will have, a thread. */
export async function syncedConversations(tx: Tx, conversationIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (conversationIds.length === 0) return new Set();
  const rows = await tx
    .selectFrom("desk_threads")
    .select("conversation_id")
    .where("conversation_id", "in", conversationIds)
    .execute();
  return new Set(rows.map((row) => row.conversation_id));
}

export async function insertThreads(
  tx: Tx,
  conversations: readonly { readonly id: string; readonly workspace_id: string }[],
  now: number,
): Promise<void> {
  if (conversations.length === 0) return;
  await tx
    .insertInto("desk_threads")
    .values(
      conversations.map(({ id, workspace_id }) => ({
        conversation_id: id,
        workspace_id,
        account_id: null,
        channel: null,
        external_id: null,
        state: "new" as const,
        mirrored_seq: 0,
        card_hash: null,
        opened_at: now,
      })),
    )
    .execute();
}

export function threadOf(db: Reader | Tx, conversationId: string): Promise<DeskThreadsTable | undefined> {
  return db.selectFrom("desk_threads").selectAll().where("conversation_id", "=", conversationId).executeTakeFirst();
}

/** The conversation of a thread, even when a new thread has replaced it. */
export async function conversationOfThread(
  db: Reader | Tx,
  accountId: string,
  thread: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom("desk_threads")
    .select("conversation_id")
    .where("account_id", "=", accountId)
    .where("external_id", "=", thread)
    .executeTakeFirst();
  if (row !== undefined) return row.conversation_id;
  const before = await postById(db, writtenId(accountId, thread));
  return before?.kind === "thread" ? before.conversation_id : undefined;
}

/** The message that this post shows. */
export async function messageShownAs(
  db: Reader | Tx,
  accountId: string,
  externalId: string,
): Promise<{ readonly conversation_id: string; readonly ref_id: string } | undefined> {
  const post = await db
    .selectFrom("desk_posts")
    .select(["conversation_id", "ref_id"])
    .where("account_id", "=", accountId)
    .where("external_id", "=", externalId)
    .where("kind", "=", "message")
    .where("direction", "=", "out")
    .executeTakeFirst();
  return post === undefined || post.ref_id === null
    ? undefined
    : { conversation_id: post.conversation_id, ref_id: post.ref_id };
}

export async function setThread(tx: Tx, conversationId: string, set: Partial<DeskThreadsTable>): Promise<void> {
  await tx.updateTable("desk_threads").set(set).where("conversation_id", "=", conversationId).execute();
}

/** Makes the desk start a new thread. The previous thread stays known. */
export async function resetThread(tx: Tx, conversationId: string, now: number): Promise<void> {
  const before = await threadOf(tx, conversationId);
  if (before !== undefined && before.account_id !== null && before.external_id !== null) {
    const { account_id: accountId, external_id: thread } = before;
    await savePost(tx, {
      id: writtenId(accountId, thread),
      conversation_id: conversationId,
      account_id: accountId,
      direction: "in",
      kind: "thread",
      ref_id: null,
      part: 0,
      state: "posted",
      external_id: thread,
      parked: null,
      mark: null,
      created_at: now,
    });
  }
  await tx
    .deleteFrom("desk_posts")
    .where("conversation_id", "=", conversationId)
    .where("direction", "=", "out")
    .execute();
  await setThread(tx, conversationId, {
    account_id: null,
    channel: null,
    external_id: null,
    state: "new",
    mirrored_seq: 0,
    card_hash: null,
    opened_at: now,
  });
}

/** Id of a message written at the desk, made of the platform's id. */
export const writtenId = (accountId: string, messageId: string): string =>
  `in.${createHash("sha256").update(`${accountId}\n${messageId}`).digest("hex").slice(0, 48)}`;

export function postById(db: Reader | Tx, id: string): Promise<DeskPostsTable | undefined> {
  return db.selectFrom("desk_posts").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The posts that show this message, note or entry, in the order of its parts. */
export function postsOf(db: Reader | Tx, conversationId: string, refId: string): Promise<DeskPostsTable[]> {
  return db
    .selectFrom("desk_posts")
    .selectAll()
    .where("conversation_id", "=", conversationId)
    .where("ref_id", "=", refId)
    .orderBy("part")
    .execute();
}

export async function savePost(tx: Tx, post: DeskPostsTable): Promise<void> {
  await tx.deleteFrom("desk_posts").where("id", "=", post.id).execute();
  await tx.insertInto("desk_posts").values(post).execute();
}

/** The existing posts of a conversation, for deletion. */
export async function postedOf(
  db: Reader | Tx,
  conversationId: string,
): Promise<readonly { readonly accountId: string; readonly externalId: string }[]> {
  const posts = await db
    .selectFrom("desk_posts")
    .select(["account_id", "external_id"])
    .where("conversation_id", "=", conversationId)
    .where("direction", "=", "out")
    .where("external_id", "is not", null)
    .execute();
  const thread = await threadOf(db, conversationId);
  return [...posts, ...(thread === undefined ? [] : [thread])].flatMap((row) =>
    row.account_id === null || row.external_id === null
      ? []
      : [{ accountId: row.account_id, externalId: row.external_id }],
  );
}

export async function deleteDesk(tx: Tx, conversationId: string): Promise<void> {
  await tx.deleteFrom("desk_posts").where("conversation_id", "=", conversationId).execute();
  await tx.deleteFrom("desk_threads").where("conversation_id", "=", conversationId).execute();
}

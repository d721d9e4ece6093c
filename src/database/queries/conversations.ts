import type { ExpressionBuilder, Insertable, Selectable } from "kysely";
import type { Reader, Store, Tx } from "#database/contract.ts";
import type { SlaClock } from "#domain/conversation/sla.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { prepareRead, prepareStatement } from "#database/dialects/prepared.ts";
import type { ConversationLinksTable, ConversationsTable } from "#database/schema/tables.ts";

export type ConversationRow = Selectable<ConversationsTable>;

export const slaClock = (row: Pick<ConversationRow, "sla_elapsed_ms" | "sla_running_since">): SlaClock => ({
  elapsedMs: row.sla_elapsed_ms,
  runningSince: row.sla_running_since,
});

/** The value of `customer_email_key` for this address. */
export function emailKey(email: string): string {
  return email.toLowerCase().slice(0, 190);
}

/** Columns that change; all others are written once. */
const changing = [
  "contact_id",
  "own_contact_id",
  "unreachable",
  "via_account_id",
  "customer_wrote_at",
  "platform_order",
  "status",
  "snoozed_from",
  "snoozed_until",
  "priority",
  "assigned_to",
  "last_message_at",
  "resolved_at",
  "message_count",
  "last_seq",
  "last_customer_seq",
  "settled_seq",
  "low_streak",
  "sla_state",
  "sla_elapsed_ms",
  "sla_running_since",
  "sla_notices",
  "timer_at",
  "customer_name",
  "customer_email",
  "customer_email_key",
  "customer_phone",
  "customer_verified",
  "event_seq",
  "previous_conversation_id",
  "status_at",
  "rules_until",
  "activity",
  "opened_at",
  "awaited_since",
  "replied",
  "bot_replied",
  "people_involved",
  "resolution",
  "version",
] as const satisfies readonly (keyof ConversationsTable)[];

export async function readConversation(
  store: Pick<Store, "read" | "select">,
  conversationId: string,
): Promise<ConversationRow | undefined> {
  const [row] = await conversationRows(store, { conversationId });
  return row;
}

const conversationRows = prepareRead((db, { conversationId }: { readonly conversationId: string }) =>
  db.selectFrom("conversations").selectAll().where("id", "=", conversationId),
);

/**
 * The conversation, locked until the end of the transaction; SQLite needs no lock, as it has one writer at a time.
 * Undefined when the workspace has no such conversation.
 */
export async function lockConversation(tx: Tx, workspaceId: string, id: string): Promise<ConversationRow | undefined> {
  const query = tx.selectFrom("conversations").selectAll().where("id", "=", id).where("workspace_id", "=", workspaceId);
  const row = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
  // MySQL ignores trailing spaces in comparisons.
  return row?.id === id ? row : undefined;
}

/**
 * Waits until no other transaction changes the conversation. The time must be read after this call, so that the times of
 * the audit log are in the order of the changes. In SQLite a transaction waits at its begin.
 */
export async function awaitTurn(tx: Tx, id: string): Promise<void> {
  if (dialectOf(tx) === "mysql") await lockedAlone(tx, { id });
}

const lockedAlone = prepareStatement((db, { id }: { readonly id: string }) =>
  db.selectFrom("conversations").select("id").where("id", "=", id).forUpdate(),
);

/** The existing ones of these conversations, locked. */
export async function lockConversations(tx: Tx, ids: readonly string[]): Promise<ConversationRow[]> {
  if (ids.length === 0) return [];
  return (await lockedById(tx, { ids: [...new Set(ids)] })).rows;
}

const lockedById = prepareStatement((db, { ids }: { readonly ids: readonly string[] }) => {
  const query = db.selectFrom("conversations").selectAll().where("id", "in", ids);
  return dialectOf(db) === "mysql" ? query.orderBy("id").forUpdate() : query;
});

export interface Context {
  readonly accountId: string;
  readonly contextKey: string;
}

/** The conversations of these contexts, locked. */
export async function lockContexts(tx: Tx, contexts: readonly Context[]): Promise<ConversationRow[]> {
  const [first] = contexts;
  if (first === undefined) return [];
  if (contexts.every(({ accountId }) => accountId === first.accountId)) {
    const contextKeys = contexts.map(({ contextKey }) => contextKey);
    return (await lockedByContext(tx, { accountId: first.accountId, contextKeys })).rows;
  }
  const query = tx.selectFrom("conversations").selectAll().where(anyContext(contexts));
  // Locking in a fixed order prevents deadlocks.
  return (dialectOf(tx) === "mysql" ? query.orderBy("id").forUpdate() : query).execute();
}

const lockedByContext = prepareStatement(
  (db, { accountId, contextKeys }: { readonly accountId: string; readonly contextKeys: readonly string[] }) => {
    const query = db
      .selectFrom("conversations")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("context_key", "in", contextKeys);
    return dialectOf(db) === "mysql" ? query.orderBy("id").forUpdate() : query;
  },
);

function anyContext(contexts: readonly Context[]) {
  const byAccount = Map.groupBy(contexts, ({ accountId }) => accountId);
  return (eb: ExpressionBuilder<{ conversations: ConversationsTable }, "conversations">) =>
    eb.or(
      [...byAccount].map(([accountId, of]) =>
        eb.and([
          eb("account_id", "=", accountId),
          eb(
            "context_key",
            "in",
            of.map(({ contextKey }) => contextKey),
          ),
        ]),
      ),
    );
}

export async function conversationOfContext(db: Reader | Tx, context: Context): Promise<ConversationRow | undefined> {
  return db
    .selectFrom("conversations")
    .selectAll()
    .where("account_id", "=", context.accountId)
    .where("context_key", "=", context.contextKey)
    .executeTakeFirst();
}

export async function insertConversations(tx: Tx, rows: readonly Insertable<ConversationsTable>[]): Promise<void> {
  await insertRows(tx, "conversations", rows);
}

/** Conversations of other accounts that are linked to these threads, locked; by account and thread. */
export async function lockLinked(tx: Tx, contexts: readonly Context[]): Promise<Map<string, ConversationRow>> {
  const found = new Map<string, ConversationRow>();
  for (const [accountId, of] of Map.groupBy(contexts, (context) => context.accountId)) {
    const links = await tx
      .selectFrom("conversation_links")
      .select(["name", "conversation_id"])
      .where("account_id", "=", accountId)
      .where("kind", "=", "thread")
      .where(
        "name",
        "in",
        of.map(({ contextKey }) => contextKey),
      )
      .execute();
    if (links.length === 0) continue;
    const query = tx
      .selectFrom("conversations")
      .selectAll()
      .where(
        "id",
        "in",
        links.map((link) => link.conversation_id),
      );
    const rows = await (dialectOf(tx) === "mysql" ? query.orderBy("id").forUpdate() : query).execute();
    for (const { name, conversation_id } of links) {
      const row = rows.find(({ id }) => id === conversation_id);
      if (row !== undefined) found.set(`${accountId}\n${name}`, row);
    }
  }
  return found;
}

/** Existing links stay. */
export async function linkConversations(tx: Tx, links: readonly ConversationLinksTable[]): Promise<void> {
  if (links.length === 0) return;
  const insert = tx.insertInto("conversation_links").values(links);
  await (dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())).execute();
}

/** The new row, and the row that this transaction read. */
export interface SavedConversation {
  readonly row: ConversationRow;
  readonly before: ConversationRow;
}

/** Writes rows that exist and are locked by this transaction. */
export async function saveConversations(tx: Tx, saved: readonly SavedConversation[]): Promise<void> {
  if (saved.length > 1 && dialectOf(tx) === "mysql") {
    const rows = saved.map(({ row }) => row);
    await insertRows(tx, "conversations", rows, { keys: ["id"], replace: changing });
    return;
  }
  // SQLite rewrites the index entries of every named column, even if its value stays the same.
  for (const { row, before } of saved) {
    const columns = changing.filter((column) => row[column] !== before[column]);
    if (columns.length === 0) continue;
    const set = Object.fromEntries(columns.map((column) => [column, row[column]]));
    await updateColumns(tx, { ...set, id: row.id }, columns.join());
  }
}

const updateColumns = prepareStatement(
  (db, { id, ...set }: { readonly id: string } & Readonly<Record<string, string | number | null>>) =>
    db.updateTable("conversations").set(set).where("id", "=", id),
);

/** The tags of each conversation that has any, in their order. */
export async function tagsIn(
  tx: Tx,
  conversationIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (conversationIds.length === 0) return new Map();
  const { rows } = await selectTags(tx, { ids: [...new Set(conversationIds)] });
  const byConversation = Map.groupBy(rows, (row) => row.conversation_id);
  return new Map([...byConversation].map(([id, of]) => [id, of.map(({ tag }) => tag)]));
}

const selectTags = prepareStatement((db, { ids }: { readonly ids: readonly string[] }) =>
  db
    .selectFrom("conversation_tags")
    .select(["conversation_id", "tag"])
    .where("conversation_id", "in", ids)
    .orderBy("tag"),
);

import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { Problem } from "#domain/problem.ts";
import type { ConversationFilter, ListPosition } from "./contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import type { PageRow } from "#database/queries/conversation-list-plan.ts";
import {
  newestFirst,
  pageQuery,
  rowConditions,
  tagCountMax,
  tagJoins,
  tagsByCount,
  tagsMax,
  thenJoin,
} from "#database/queries/conversation-list-plan.ts";
import { searchText } from "./text.ts";
import type { Phrase } from "./words.ts";
import type { DatabaseSearch } from "./contract.ts";
import { phrasesOf } from "./words.ts";
import { isOverTime, listMsMax, withinTime } from "#database/dialects/mysql-time-limit.ts";

// InnoDB's full text reads every occurrence of a word before the first result, and not in the order of the list: fast for
// rare words, seconds for common ones. Reading the list itself finds common words fast, so that is tried first; the
// full-text index is used when the newest conversations show that the words are rare.

/** Rows of the list that are read first, to estimate how common the words are. */
const probeRows = 256;
/** Most rows of the list that are read for a page. */
const scanRowsMax = 4_096;

export function createMysqlSearch(read: Reader, msMax: number = listMsMax): DatabaseSearch {
  return {
    index,
    // The search reads filter values from the conversation's row.
    refilter: async () => undefined,
    remove,
    async find(filter, text, before, limit) {
      const phrases = phrasesOf(filter.workspaceId, text);
      if (phrases.length === 0 || (filter.tags ?? []).length > tagsMax) return [];
      try {
        const counted = await tagsByCount(read, "mysql", filter, before, tagCountMax);
        if (counted[0]?.count === 0) return [];
        return await find(read, { ...filter, tags: counted.map(({ tag }) => tag) }, phrases, before, limit, msMax);
      } catch (error) {
        if (!isOverTime(error)) throw error;
        throw new Problem(
          "search_unavailable",
          "the search took too long: add rarer words, or narrow it by since and until",
          {
            retryAfterS: 30,
            cause: error,
          },
        );
      }
    },
    async confirm(filter, text, before, conversationIds) {
      const phrases = phrasesOf(filter.workspaceId, text);
      if (phrases.length === 0 || conversationIds.length === 0) return [];
      const { rows } = await confirmQuery(filter, phrases, before, conversationIds).execute(read);
      return rows.map((row) => ({ id: row.id, startedAt: row.started_at }));
    },
  };
}

async function index(tx: Tx, conversationIds: readonly string[]): Promise<void> {
  // A fixed order prevents deadlocks.
  for (const id of [...new Set(conversationIds)].toSorted()) {
    // The lock prevents a concurrent deletion, which would leave the text behind, and an update with fewer messages.
    const conversation = await lock(tx, id);
    if (conversation === undefined) {
      await tx.deleteFrom("conversation_text").where("conversation_id", "=", id).execute();
      continue;
    }
    const row = {
      indexed_seq: conversation.last_seq,
      body: await searchText(tx, conversation.workspace_id, id),
    };
    await tx
      .insertInto("conversation_text")
      .values({ conversation_id: id, ...row })
      .onDuplicateKeyUpdate(row)
      .execute();
  }
}

async function remove(tx: Tx, conversationIds: readonly string[]): Promise<void> {
  for (const id of [...new Set(conversationIds)].toSorted()) {
    await lock(tx, id);
    await tx.deleteFrom("conversation_text").where("conversation_id", "=", id).execute();
  }
}

function lock(tx: Tx, id: string) {
  return tx
    .selectFrom("conversations")
    .select(["workspace_id", "last_seq"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

async function find(
  read: Reader,
  filter: ConversationFilter,
  phrases: readonly Phrase[],
  before: ListPosition | undefined,
  limit: number,
  msMax: number,
): Promise<ListPosition[]> {
  const found: ListPosition[] = [];
  let from = before;
  let scanned = 0;
  let size = probeRows;
  for (;;) {
    const { rows } = await withinTime(scanQuery(filter, phrases, from, size), msMax).execute(read);
    for (const row of rows.toSorted(newestFirst)) {
      if (row.hit === 1) found.push({ id: row.id, startedAt: row.started_at });
      from = { id: row.id, startedAt: row.started_at };
    }
    scanned += rows.length;
    if (found.length >= limit) return found.slice(0, limit);
    if (rows.length < size) return found;
    const needed =
      found.length === 0 ? Number.POSITIVE_INFINITY : Math.ceil((scanned / found.length) * limit) - scanned;
    if (scanned + needed > scanRowsMax) break;
    size = Math.max(probeRows, Math.min(Math.ceil(needed * 1.2), scanRowsMax));
  }
  const { rows } = await withinTime(fullTextQuery(filter, phrases, from, limit - found.length), msMax).execute(read);
  return [...found, ...rows.toSorted(newestFirst).map((row) => ({ id: row.id, startedAt: row.started_at }))];
}

interface ScannedRow extends PageRow {
  readonly hit: 0 | 1;
}

function scanQuery(
  filter: ConversationFilter,
  phrases: readonly Phrase[],
  before: ListPosition | undefined,
  limit: number,
): RawBuilder<ScannedRow> {
  return sql`select p.id, p.started_at, coalesce(${contains(phrases)}, 0) as hit
    from (${pageQuery("mysql", filter, before, limit)}) as p
    left join conversation_text as t on t.conversation_id = p.id`;
}

function fullTextQuery(
  filter: ConversationFilter,
  phrases: readonly Phrase[],
  before: ListPosition | undefined,
  limit: number,
): RawBuilder<PageRow> {
  const words = [...new Set(phrases.flat())].map((word) => `+${word}`).join(" ");
  const conditions = [
    sql`match (t.body) against (${words} in boolean mode)`,
    ...rowConditions("mysql", filter, before),
    // InnoDB's own phrase search reads the text of every row with the words, and is far slower.
    ...(phrases.some((phrase) => phrase.length > 1) ? [contains(phrases.filter((phrase) => phrase.length > 1))] : []),
  ];
  return sql`select c.id, c.started_at from conversation_text as t
    ${thenJoin("mysql")} conversations as c on c.id = t.conversation_id
    ${tagJoins("mysql", filter.tags ?? [], sql.ref("c.id"))}
    where ${sql.join(conditions, sql` and `)}
    order by c.started_at desc, c.id desc limit ${sql.lit(limit)}`;
}

function confirmQuery(
  filter: ConversationFilter,
  phrases: readonly Phrase[],
  before: ListPosition | undefined,
  conversationIds: readonly string[],
): RawBuilder<PageRow> {
  const conditions = [
    sql`c.id in (${sql.join(conversationIds)})`,
    ...rowConditions("mysql", filter, before),
    contains(phrases),
  ];
  return sql`select c.id, c.started_at from conversations as c force index (primary)
    ${thenJoin("mysql")} conversation_text as t on t.conversation_id = c.id
    ${tagJoins("mysql", filter.tags ?? [], sql.ref("c.id"))}
    where ${sql.join(conditions, sql` and `)}`;
}

/** Tokens are separated by spaces, so that a word can be found as a substring. */
function contains(phrases: readonly Phrase[]): RawBuilder<number> {
  const each = phrases.map((phrase) => sql`instr(t.body, ${` ${phrase.join(" ")} `}) > 0`);
  return sql<number>`(${sql.join(each, sql` and `)})`;
}

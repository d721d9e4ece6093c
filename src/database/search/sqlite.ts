import { randomInt } from "node:crypto";
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { tagsIn } from "#database/queries/conversations.ts";
import type { ConversationFilter, ListPosition } from "./contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import type { PageRow } from "#database/queries/conversation-list-plan.ts";
import { newestFirst, rowConditions, tagJoins, tagsMax } from "#database/queries/conversation-list-plan.ts";
import { searchText } from "./text.ts";
import { facetTokens, messageBreak, phrasesOf } from "./words.ts";
import type { DatabaseSearch } from "./contract.ts";
import { prepareStatement } from "#database/dialects/prepared.ts";

// One FTS5 row per conversation. Row numbers follow the conversation's start, so that FTS5 returns rows in the order of
// the list and stops when the page is full. The rows hold filter values as further tokens, so that "refund, open, tagged
// vip" is an intersection in the index.

/** Row numbers per millisecond, of which conversations use half. */
const positionsPerMs = 1n << 20n;
const positionMax = (1n << 63n) - 1n;

export function createSqliteSearch(read: Reader): DatabaseSearch {
  return {
    index,
    // The filter's tokens are in the same row as the text, which FTS5 can only replace as a whole.
    refilter: index,
    remove,
    purge,
    async find(filter, text, before, limit) {
      const phrases = phrasesOf(filter.workspaceId, text);
      if (phrases.length === 0 || (filter.tags ?? []).length > tagsMax) return [];
      const required = [...phrases.map((phrase) => phrase.join(" ")), ...facetTokens(filter)];
      return collect(read, required, filter, before, limit);
    },
    async confirm(filter, text, before, conversationIds) {
      const phrases = phrasesOf(filter.workspaceId, text);
      if (phrases.length === 0 || conversationIds.length === 0) return [];
      const words = phrases.map((phrase) => phrase.join(" "));
      const { rows } = await confirmQuery(words, filter, before, conversationIds).execute(read);
      return rows.map((row) => ({ id: row.id, startedAt: row.started_at }));
    },
    findTagged: (filter, before, limit) => collect(read, facetTokens(filter), filter, before, limit),
  };
}

async function index(tx: Tx, conversationIds: readonly string[]): Promise<void> {
  const ids = [...new Set(conversationIds)];
  if (ids.length === 0) return;
  const conversations = new Map((await conversationsOf(tx, { ids })).rows.map((row) => [row.id, row]));
  const tags = await tagsIn(tx, ids);
  const positioned = new Set((await positionsOf(tx, { ids })).rows.map((row) => row.conversation_id));
  let written = 0;
  for (const id of ids) {
    const conversation = conversations.get(id);
    if (conversation === undefined) {
      await remove(tx, [id]);
      continue;
    }
    const facets = facetTokens({
      workspaceId: conversation.workspace_id,
      channel: conversation.channel,
      status: conversation.status,
      slaState: conversation.sla_state,
      tags: tags.get(id) ?? [],
      ...(conversation.customer_email_key === null ? {} : { email: conversation.customer_email_key }),
    });
    if (!positioned.has(id)) {
      const first = BigInt(conversation.started_at) * positionsPerMs;
      // FTS5 keeps the numbers of rewritten rows in hash tables by remainder. Multiples of a power of two would all fall
      // into one bucket.
      const free = first + BigInt(randomInt(Number(positionsPerMs / 2n)));
      await sql`insert into conversation_text (position, conversation_id, indexed_seq)
        select coalesce(max(position) + 1, ${free}), ${id}, ${conversation.last_seq} from conversation_text
        where position >= ${first} and position < ${first + positionsPerMs}`.execute(tx);
    }
    const body = `${facets.join(" ")} ${await searchText(tx, conversation.workspace_id, id)}`;
    await writeDocument(tx, { id, body });
    written += body.length;
  }
  await mergePages(tx, { pages: mergedLeast + Math.ceil((written / pageBytes) * mergedPerPage) });
}

/** FTS5's default page size. */
const pageBytes = 4_050;
/** Each page is merged once on each of the seven to ten levels; with fewer merges, segments accumulate. */
const mergedPerPage = 10;
/** Merging also drops removed rows. Takes half a millisecond. */
const mergedLeast = 10;

/**
 * Merges segments of the index in proportion to the writes. FTS5's automatic merge handles hundreds of pages at once,
 * which blocks the process.
 */
const mergePages = prepareStatement(
  (_db, { pages }: { readonly pages: number }) =>
    sql`insert into conversation_fts (conversation_fts, rank) values ('merge', ${pages})`,
);

const conversationsOf = prepareStatement((db, { ids }: { readonly ids: readonly string[] }) =>
  db
    .selectFrom("conversations")
    .select(["id", "workspace_id", "channel", "status", "sla_state", "customer_email_key", "started_at", "last_seq"])
    .where("id", "in", ids),
);

const positionsOf = prepareStatement((db, { ids }: { readonly ids: readonly string[] }) =>
  db.selectFrom("conversation_text").select("conversation_id").where("conversation_id", "in", ids),
);

const writeDocument = prepareStatement((_db, { id, body }: { readonly id: string; readonly body: string }) => {
  return sql`insert or replace into conversation_fts (rowid, body)
    select position, ${body} from conversation_text where conversation_id = ${id}`;
});

async function remove(tx: Tx, conversationIds: readonly string[]): Promise<void> {
  for (const id of conversationIds) {
    await sql`delete from conversation_fts
      where rowid = (select position from conversation_text where conversation_id = ${id})`.execute(tx);
    await tx.deleteFrom("conversation_text").where("conversation_id", "=", id).execute();
  }
  await mergePages(tx, { pages: mergedLeast * conversationIds.length });
}

const mergedPages = 500;
/** Row numbers that no conversation has. Each is lower than the previous one, so FTS5 begins a new segment for each. */
const fillers = [-1, -2, -3, -4];

/** Removes deleted rows, which are only marked in the segments, by merging the segments. */
async function purge(tx: Tx, first: boolean): Promise<boolean> {
  if (first) {
    // FTS5 continues a merge that has begun, which may already have copied rows removed since; and it skips a merge of
    // fewer than four segments when there are as many new ones. Four more segments prevent both.
    for (const position of fillers) {
      await sql`insert into conversation_fts (rowid, body) values (${position}, ${messageBreak})`.execute(tx);
    }
    for (const position of fillers) await sql`delete from conversation_fts where rowid = ${position}`.execute(tx);
    // A negative number starts a merge into one segment, a positive one continues it.
    await mergePages(tx, { pages: -mergedPages });
    return true;
  }
  const changes = async (): Promise<number> => {
    const { rows } = await sql<{ readonly count: number }>`select total_changes() as count`.execute(tx);
    return rows[0]?.count ?? 0;
  };
  const before = await changes();
  await mergePages(tx, { pages: mergedPages });
  return (await changes()) - before >= 2;
}

async function collect(
  read: Reader,
  phrases: readonly string[],
  filter: ConversationFilter,
  before: ListPosition | undefined,
  limit: number,
): Promise<ListPosition[]> {
  const found: ListPosition[] = [];
  const { since, until } = filter;
  const bottom = since === undefined ? 0n : firstOf(since + 1);
  let top = until === undefined ? positionMax : firstOf(until) - 1n;
  if (before !== undefined) top = smaller(top, firstOf(before.startedAt + 1) - 1n);
  let size = limit + 1;
  for (;;) {
    const { rows } = await matches(phrases, filter, before, bottom, top, size).execute(read);
    const last = rows.at(-1);
    const all = rows.length < size || last === undefined;
    // Within a millisecond row numbers do not follow the ids, so a millisecond is never split between batches.
    const whole = all ? rows : rows.filter((row) => row.started_at > last.started_at);
    found.push(...whole.toSorted(newestFirst).map((row) => ({ id: row.id, startedAt: row.started_at })));
    if (all || found.length >= limit) return found.slice(0, limit);
    if (whole.length === 0) size *= 4;
    top = firstOf(last.started_at + 1) - 1n;
  }
}

function matches(
  phrases: readonly string[],
  filter: ConversationFilter,
  before: ListPosition | undefined,
  bottom: bigint,
  top: bigint,
  limit: number,
): RawBuilder<PageRow> {
  const query = allOf(phrases);
  // The matches are checked against the rows, since the index may be behind.
  const conditions = rowConditions("sqlite", filter, before);
  return sql`select c.id, c.started_at from conversation_fts
    cross join conversation_text as t on t.position = conversation_fts.rowid
    cross join conversations as c on c.id = t.conversation_id
    ${tagJoins("sqlite", filter.tags ?? [], sql.ref("c.id"))}
    where conversation_fts match ${query}
    and conversation_fts.rowid >= ${bottom} and conversation_fts.rowid <= ${top}
    and ${sql.join(conditions, sql` and `)}
    order by conversation_fts.rowid desc limit ${sql.lit(limit)}`;
}

function confirmQuery(
  words: readonly string[],
  filter: ConversationFilter,
  before: ListPosition | undefined,
  conversationIds: readonly string[],
): RawBuilder<PageRow> {
  const conditions = rowConditions("sqlite", filter, before);
  return sql`select c.id, c.started_at from conversations as c
    cross join conversation_text as t on t.conversation_id = c.id
    cross join conversation_fts on conversation_fts.rowid = t.position
    ${tagJoins("sqlite", filter.tags ?? [], sql.ref("c.id"))}
    where c.id in (${sql.join(conversationIds)}) and conversation_fts match ${allOf(words)}
    and ${sql.join(conditions, sql` and `)}`;
}

const allOf = (phrases: readonly string[]): string => phrases.map((words) => `"${words}"`).join(" AND ");

/** The first row number of this millisecond. */
function firstOf(ms: number): bigint {
  const position = BigInt(Math.floor(ms)) * positionsPerMs;
  return position < 0n ? 0n : smaller(position, positionMax);
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Status } from "#domain/conversation/status.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { SlaState } from "#domain/conversation/sla.ts";
import type { ConversationFilter, ConversationSearch, ListPosition } from "#database/search/contract.ts";
import type { Store } from "#database/contract.ts";
import { newestFirst, pageQuery, tagCountMax, tagsByCount, tagsMax, thenJoin } from "./conversation-list-plan.ts";
import { createConversationSearch } from "#database/search/open.ts";
import type { ConversationRow } from "./conversations.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { isOverTime, withinTime } from "#database/dialects/mysql-time-limit.ts";
import { prepareRead } from "#database/dialects/prepared.ts";

export interface ConversationList extends ConversationFilter {
  /** Full text; see {@link ConversationSearch.find}. */
  readonly text?: string;
  /** The last row of the previous page; absent: the first page. */
  readonly before?: ListPosition;
  readonly limit: number;
}

export type ListStore = Pick<Store, "dialect" | "read" | "select">;

export interface ConversationPage {
  /** Sorted by `started_at` descending, then `id` descending. */
  readonly rows: readonly ConversationRow[];
  readonly hasMore: boolean;
}

/**
 * A page of the conversations that satisfy the filter. Following `before` neither repeats nor skips a conversation, since
 * the sort keys never change. The cost depends on the page, not on the size of the workspace.
 */
export async function listConversations(
  store: ListStore,
  list: ConversationList,
  search: ConversationSearch = createConversationSearch(store),
): Promise<ConversationPage> {
  const found =
    list.text === undefined
      ? await page(store, list, search)
      : await byIds(store, await textPage(list, list.text, search));
  const rows = found.toSorted(newestFirst);
  return { rows: rows.slice(0, list.limit), hasMore: rows.length > list.limit };
}

// One more row than requested shows whether there is another page.
const pageLimit = (list: ConversationList): number => list.limit + 1;

function textPage(list: ConversationList, text: string, search: ConversationSearch): Promise<readonly ListPosition[]> {
  return search.find({ ...list, tags: distinct(list.tags) }, text, list.before, pageLimit(list));
}

async function page(
  store: ListStore,
  list: ConversationList,
  search: ConversationSearch,
): Promise<readonly ConversationRow[]> {
  const tags = distinct(list.tags);
  if (tags.length > tagsMax) return [];
  if (tags.length < 2) return pageRows(store, list, tags, "unlimited");
  const counted = await tagsByCount(store.read, store.dialect, list, list.before, tagCountMax);
  const fewest = counted[0]?.count ?? 0;
  if (fewest === 0) return [];
  const rarestFirst = counted.map(({ tag }) => tag);
  if (fewest < tagCountMax || list.email !== undefined) return pageRows(store, list, rarestFirst, "unlimited");
  // Every tag has many conversations, so the full-text index intersects them.
  if (search.findTagged !== undefined) {
    return byIds(store, await search.findTagged({ ...list, tags: rarestFirst }, list.before, pageLimit(list)));
  }
  return pageRows(store, list, rarestFirst, "limited");
}

async function pageRows(
  store: ListStore,
  list: ConversationList,
  tags: readonly string[],
  time: "limited" | "unlimited",
): Promise<readonly ConversationRow[]> {
  const { workspaceId, before, since, until, email } = list;
  if (tags.length === 0 && since === undefined && until === undefined && email === undefined) {
    const { channel = null, status = null, slaState = null } = list;
    const shape: PlainShape = { channel, status, slaState, limit: pageLimit(list), first: before === undefined };
    const from = before === undefined ? {} : { startedAt: before.startedAt, id: before.id };
    return plainRows(store, { workspaceId, ...from }, JSON.stringify(shape));
  }
  const query = rowsOf(store.dialect, { ...list, tags }, list.before, pageLimit(list));
  try {
    const { rows } = await (time === "limited" && store.dialect === "mysql" ? withinTime(query) : query).execute(
      store.read,
    );
    return rows;
  } catch (error) {
    if (!isOverTime(error)) throw error;
    throw new Problem(
      "upstream_timeout",
      "too many conversations have each of these tags: narrow the list by since and until",
      {
        retryAfterS: 30,
        cause: error,
      },
    );
  }
}

/** The parts of a list without tags, times and addresses that decide its statement. */
interface PlainShape {
  readonly channel: Channel | null;
  readonly status: Status | null;
  readonly slaState: SlaState | null;
  readonly limit: number;
  readonly first: boolean;
}

interface PlainValues extends Readonly<Record<string, string | number>> {
  readonly workspaceId: string;
}

const plainRows = prepareRead((db, { workspaceId, startedAt, id }: PlainValues, shape) => {
  const { channel, status, slaState, limit, first } = JSON.parse(shape) as PlainShape;
  const filter: ConversationFilter = {
    workspaceId,
    ...(channel === null ? {} : { channel }),
    ...(status === null ? {} : { status }),
    ...(slaState === null ? {} : { slaState }),
  };
  const before = first ? undefined : ({ startedAt, id } as ListPosition);
  return rowsOf(dialectOf(db), filter, before, limit);
});

function rowsOf(
  dialect: Store["dialect"],
  filter: ConversationFilter,
  before: ListPosition | undefined,
  limit: number,
): RawBuilder<ConversationRow> {
  const ids = pageQuery(dialect, filter, before, limit);
  return sql`select c.* from (${ids}) as p ${thenJoin(dialect)} conversations as c on c.id = p.id`;
}

async function byIds(store: Pick<Store, "read">, found: readonly ListPosition[]): Promise<ConversationRow[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  return store.read.selectFrom("conversations").selectAll().where("id", "in", ids).execute();
}

function distinct(tags: readonly string[] = []): string[] {
  return [...new Set(tags)];
}

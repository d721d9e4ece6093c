import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { channels } from "#channels/catalog.ts";
import { statuses } from "#domain/conversation/status.ts";
import { slaStates } from "#domain/conversation/sla.ts";
import type { ConversationFilter, ListPosition } from "#database/search/contract.ts";
import type { Reader } from "#database/contract.ts";
import { emailKey } from "./conversations.ts";
import type { Dialect } from "#database/dialects/dialect.ts";

// The index for each list is chosen here, since a wrong choice by the database's optimiser sorts the whole workspace.
// Every plan reads an index in the order of the list and stops at the end of the page.

/** A conversation has fewer tags than this. Below both databases' limit of joins. */
export const tagsMax = 52;
/** With more conversations than this, a tag is not selective enough to read by. */
export const tagCountMax = 1_000;

export interface PageRow {
  readonly id: string;
  readonly started_at: number;
}

/** The order of the list. */
export function newestFirst(a: PageRow, b: PageRow): number {
  return b.started_at - a.started_at || (b.id < a.id ? -1 : 1);
}

/** A range of an index in which rows are in the order of the list. */
interface Branch {
  readonly table: "conversations" | "conversation_tags";
  readonly index: string;
  readonly equal: Readonly<Record<string, string>>;
}

/** One row per conversation, `id` and `started_at`, in the order of the list. Reads by the first of several tags. */
export function pageQuery(
  dialect: Dialect,
  filter: ConversationFilter,
  before: ListPosition | undefined,
  limit: number,
): RawBuilder<PageRow> {
  const branches = branchesOf(filter);
  const [only] = branches;
  if (only === undefined) throw new Error("a list has a branch");
  if (branches.length === 1) return branchQuery(dialect, only, filter, before, limit);
  const parts = branches.map(
    (branch) => sql`select * from (${branchQuery(dialect, branch, filter, before, limit)}) as b`,
  );
  return sql`select id, started_at from (${sql.join(parts, sql` union all `)}) as u
    order by started_at desc, id desc limit ${sql.lit(limit)}`;
}

function branchesOf(filter: ConversationFilter): Branch[] {
  const { workspaceId: workspace_id, channel, status, slaState, tags = [], email } = filter;
  const enums = {
    ...(channel === undefined ? {} : { channel }),
    ...(status === undefined ? {} : { status }),
    ...(slaState === undefined ? {} : { sla_state: slaState }),
  };
  const names = Object.keys(enums);
  if (email !== undefined) {
    const equal = { workspace_id, customer_email_key: emailKey(email), ...enums };
    return [{ table: "conversations", index: "conversations_email", equal }];
  }
  const [tag] = tags;
  if (tag !== undefined) {
    const table = "conversation_tags";
    if (names.length === 0) return [{ table, index: "tags_started", equal: { workspace_id, tag } }];
    return cube(filter).map((values) => ({ table, index: "tags_cube", equal: { workspace_id, tag, ...values } }));
  }
  const table = "conversations";
  if (names.length >= 2) {
    return cube(filter).map((values) => ({ table, index: "conversations_cube", equal: { workspace_id, ...values } }));
  }
  const index =
    channel !== undefined
      ? "conversations_channel"
      : status !== undefined
        ? "conversations_status"
        : slaState !== undefined
          ? "conversations_sla"
          : "conversations_started";
  return [{ table, index, equal: { workspace_id, ...enums } }];
}

/** Every combination of values that satisfies the filter; each is one range of a cube index. */
function cube({ channel, status, slaState }: ConversationFilter) {
  return (channel === undefined ? channels : [channel]).flatMap((of) =>
    (status === undefined ? statuses : [status]).flatMap((at) =>
      (slaState === undefined ? slaStates : [slaState]).map((sla_state) => ({ channel: of, status: at, sla_state })),
    ),
  );
}

function branchQuery(
  dialect: Dialect,
  { table, index, equal }: Branch,
  filter: ConversationFilter,
  before: ListPosition | undefined,
  limit: number,
): RawBuilder<PageRow> {
  const id = sql.ref(table === "conversations" ? "r.id" : "r.conversation_id");
  const joined = table === "conversations" ? (filter.tags ?? []) : (filter.tags ?? []).slice(1);
  const conditions = [
    ...Object.entries(equal).map(([column, value]) => sql`${sql.ref(`r.${column}`)} = ${value}`),
    ...rangeConditions(dialect, filter, before, sql.ref("r.started_at"), id),
  ];
  return sql`select ${id} as id, r.started_at from ${sql.table(table)} as r ${useIndex(dialect, index)}
    ${tagJoins(dialect, joined, id)}
    where ${sql.join(conditions, sql` and `)}
    order by r.started_at desc, ${id} desc limit ${sql.lit(limit)}`;
}

/** The filter's conditions on the row `c`, without tags, for queries that find conversations in another way. */
export function rowConditions(
  dialect: Dialect,
  filter: ConversationFilter,
  before: ListPosition | undefined,
): RawBuilder<unknown>[] {
  const { workspaceId, channel, status, slaState, email } = filter;
  return [
    sql`c.workspace_id = ${workspaceId}`,
    ...(channel === undefined ? [] : [sql`c.channel = ${channel}`]),
    ...(status === undefined ? [] : [sql`c.status = ${status}`]),
    ...(slaState === undefined ? [] : [sql`c.sla_state = ${slaState}`]),
    ...(email === undefined ? [] : [sql`c.customer_email_key = ${emailKey(email)}`]),
    ...rangeConditions(dialect, filter, before, sql.ref("c.started_at"), sql.ref("c.id")),
  ];
}

function rangeConditions(
  dialect: Dialect,
  { since, until }: ConversationFilter,
  before: ListPosition | undefined,
  startedAt: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = [];
  if (since !== undefined) conditions.push(sql`${startedAt} > ${since}`);
  // A single upper bound, at which the index is entered.
  if (before !== undefined && (until === undefined || before.startedAt < until)) {
    conditions.push(
      dialect === "sqlite"
        ? sql`(${startedAt}, ${id}) < (${before.startedAt}, ${before.id})`
        : // MariaDB takes no range from a comparison of pairs.
          sql`${startedAt} <= ${before.startedAt} and (${startedAt} < ${before.startedAt} or ${id} < ${before.id})`,
    );
  } else if (until !== undefined) {
    conditions.push(sql`${startedAt} < ${until}`);
  }
  return conditions;
}

/** Keeps conversations with all of these tags. Joins by primary key, so no row is repeated. */
export function tagJoins(dialect: Dialect, tags: readonly string[], id: RawBuilder<unknown>): RawBuilder<unknown> {
  const joins = tags.map((tag, number) => {
    const x = sql.ref(`x${number}`);
    return sql`${thenJoin(dialect)} conversation_tags as ${x} on ${x}.conversation_id = ${id} and ${x}.tag = ${tag}`;
  });
  return joins.length === 0 ? sql`` : sql.join(joins, sql` `);
}

/** A join whose left side is read first. */
export function thenJoin(dialect: Dialect): RawBuilder<unknown> {
  return dialect === "sqlite" ? sql`cross join` : sql`straight_join`;
}

function useIndex(dialect: Dialect, index: string): RawBuilder<unknown> {
  return dialect === "sqlite" ? sql`indexed by ${sql.ref(index)}` : sql`force index (${sql.ref(index)})`;
}

/** The tags, rarest first, with their number of conversations in the filter's time range, counted up to `max`. */
export async function tagsByCount(
  read: Reader,
  dialect: Dialect,
  filter: ConversationFilter,
  before: ListPosition | undefined,
  max: number,
): Promise<readonly { readonly tag: string; readonly count: number }[]> {
  const counts: { readonly tag: string; readonly count: number }[] = [];
  for (const tag of new Set(filter.tags)) {
    const { rows } = await tagCountQuery(dialect, filter, before, tag, max).execute(read);
    counts.push({ tag, count: rows[0]?.n ?? 0 });
  }
  return counts.toSorted((a, b) => a.count - b.count);
}

function tagCountQuery(
  dialect: Dialect,
  filter: ConversationFilter,
  before: ListPosition | undefined,
  tag: string,
  max: number,
): RawBuilder<{ readonly n: number }> {
  const conditions = [
    sql`r.workspace_id = ${filter.workspaceId} and r.tag = ${tag}`,
    ...rangeConditions(dialect, filter, before, sql.ref("r.started_at"), sql.ref("r.conversation_id")),
  ];
  return sql`select count(*) as n from (
    select 1 from conversation_tags as r ${useIndex(dialect, "tags_started")}
    where ${sql.join(conditions, sql` and `)} limit ${sql.lit(max)}) as t`;
}

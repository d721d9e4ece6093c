import { sql } from "kysely";
import { idsFrom, parseWorkspaceId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Reader, Store } from "#database/contract.ts";
import { contains } from "#database/dialects/contains.ts";
import type { AuditTable } from "#database/schema/tables.ts";

const dayMs = 86_400_000;
/** Entries that one page looks through. A filter that few entries match then takes several pages. */
const scannedMax = 20_000;
const exportPage = 1_000;

/** Entries of a workspace and its conversations. */
export interface AuditFilter {
  readonly workspaceId: string;
  /** An agent's e-mail address, the id of an API key, or a part of the program. */
  readonly actor?: string | undefined;
  /** An action such as `api_key_added`, or the first words of several, such as `api_key`. */
  readonly action?: string | undefined;
  /** A part of what was changed, or of its value before or after. */
  readonly text?: string | undefined;
  readonly conversationId?: string | undefined;
  /** Epoch milliseconds, inclusive. */
  readonly from?: number | undefined;
  /** Epoch milliseconds, exclusive. */
  readonly to?: number | undefined;
}

export interface AuditPage {
  readonly rows: readonly AuditTable[];
  /** Older entries follow below this id; undefined at the end. A page may have fewer rows than asked for before the end. */
  readonly next: string | undefined;
}

/** Entries that match, newest first, below the id `before`. */
export async function auditPage(
  db: Reader,
  filter: AuditFilter,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<AuditPage> {
  const end = await scannedTo(db, filter, before);
  let query = within(db, filter, before).selectAll();
  if (end !== undefined) query = query.where("id", ">=", end);
  const { actor, action, text, to, from } = filter;
  if (from !== undefined) query = query.where("created_at", ">=", from);
  if (to !== undefined) query = query.where("created_at", "<", to);
  if (actor !== undefined) query = query.where(sql<boolean>`lower(actor_id) = lower(${actor})`);
  if (action !== undefined) {
    const others = `${action.replaceAll(/[!%_]/g, "!$&")}!_%`;
    query = query.where(sql<boolean>`(action = ${action} or action like ${others} escape '!')`);
  }
  if (text !== undefined) {
    query = query.where((eb) =>
      eb.or((["detail", "from_value", "to_value"] as const).map((name) => contains(name, text))),
    );
  }
  const rows = await query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]?.id };
  return { rows, next: end };
}

/** All entries that match, newest first. */
export async function* auditPages(db: Reader, filter: AuditFilter): AsyncGenerator<readonly AuditTable[]> {
  let before: string | undefined;
  do {
    const { rows, next } = await auditPage(db, filter, { before, limit: exportPage });
    yield rows;
    before = next;
  } while (before !== undefined);
}

/** The oldest entry that the page looks at; undefined: all. */
async function scannedTo(db: Reader, filter: AuditFilter, before: string | undefined): Promise<string | undefined> {
  if (filter.actor === undefined && filter.action === undefined && filter.text === undefined) return undefined;
  const last = await within(db, filter, before)
    .select("id")
    .orderBy("id", "desc")
    .offset(scannedMax - 1)
    .limit(1)
    .executeTakeFirst();
  return last?.id;
}

/** Ids begin with the time. One that was made while the clock was set back has a later time than its entry. */
function within(db: Reader, { workspaceId, conversationId, from, to }: AuditFilter, before: string | undefined) {
  let query = db.selectFrom("audit").where("workspace_id", "=", workspaceId);
  if (conversationId !== undefined) query = query.where("conversation_id", "=", conversationId);
  if (from !== undefined) query = query.where("id", ">=", idsFrom("aud", from));
  if (to !== undefined) query = query.where("id", "<", idsFrom("aud", to + dayMs));
  return before === undefined ? query : query.where("id", "<", before);
}

/** The newest entries in order of time, including those of deleted conversations and workspaces. */
export async function readAudit(
  store: Store,
  given: {
    readonly workspaceId: string;
    readonly conversationId: string | undefined;
    /** Epoch milliseconds. */
    readonly since: number | undefined;
    readonly limit: number;
  },
) {
  const id = parseWorkspaceId(given.workspaceId);
  if (id === undefined) {
    throw new Problem(
      "invalid_workspace_id",
      `"${given.workspaceId}" is not a workspace id: wt_<6 characters>_<characters>`,
    );
  }
  const known = await store.read.selectFrom("workspaces").select("id").where("id", "=", id).executeTakeFirst();
  if (known === undefined) throw new Problem("workspace_not_found", `there is no workspace ${id}`);
  let query = store.read.selectFrom("audit").selectAll().where("workspace_id", "=", id);
  if (given.conversationId !== undefined) query = query.where("conversation_id", "=", given.conversationId);
  if (given.since !== undefined) query = query.where("created_at", ">=", given.since);
  const rows = await query
    .orderBy("id", "desc")
    .limit(given.limit + 1)
    .execute();
  return { entries: rows.slice(0, given.limit).toReversed().map(auditEntryOf), more: rows.length > given.limit };
}

export function auditEntryOf(row: AuditTable) {
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    action: row.action,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    from: row.from_value,
    to: row.to_value,
    detail: row.detail,
    created_at: new Date(row.created_at).toISOString(),
  };
}

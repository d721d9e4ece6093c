import { sql } from "kysely";
import type { Status } from "#domain/conversation/status.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";
import { priorities } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ListPage } from "#http/inbox/wire.ts";
import { listItems } from "./items.ts";
import { invalidCursor, pageSize } from "./paging.ts";

/** Most urgent first. A cursor names the state in which its page ended. */
const urgencies: readonly SlaState[] = ["breached", "at_risk", "in_compliance"];

interface WaitingCursor {
  readonly state: number;
  /** When the target of its priority is or was reached, in epoch milliseconds. */
  readonly dueAt: number;
  readonly id: string;
}

/** Conversations of one status, state and priority, which are due in the order in which they began to wait. */
interface Range {
  readonly status: Status;
  readonly state: SlaState;
  readonly priority: Priority;
}

export interface UrgencyRequest {
  readonly workspaceId: string;
  readonly statuses: readonly Status[];
  readonly cursor: string | undefined;
}

/** Waiting conversations by SLA state, then by when their target is due. */
export async function urgentPage(
  db: Reader,
  settings: WorkspaceSettings,
  { workspaceId, statuses, cursor }: UrgencyRequest,
  now: number,
): Promise<ListPage> {
  const after = readCursor(cursor);
  const found: WaitingCursor[] = [];
  for (const [state, name] of urgencies.entries()) {
    if (state < (after?.state ?? 0) || found.length > pageSize) continue;
    const from = after?.state === state ? after : undefined;
    // Each query reads a range of the index in order. One query for all would sort.
    const ranges = statuses.flatMap((status) =>
      priorities.map((priority): Range => ({ status, state: name, priority })),
    );
    const targetOf = ({ priority }: Range): number => settings.slaTargets[priority] * 60_000;
    const waits = await Promise.all(ranges.map((range) => waiting(db, workspaceId, range, targetOf(range), from)));
    const merged = waits.flat().toSorted((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
    found.push(...merged.map((each) => ({ ...each, state })));
  }
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  const ids = page.map(({ id }) => id);
  return {
    items: await listItems(db, workspaceId, settings, await rowsOf(db, ids), now),
    nextCursor: found.length > pageSize && last !== undefined ? `${last.state}.${last.dueAt}.${last.id}` : null,
    now,
  };
}

function readCursor(cursor: string | undefined): WaitingCursor | undefined {
  if (cursor === undefined) return undefined;
  const [, state, dueAt, id] = /^([0-2])\.(\d{1,15})\.(conv_[0-9a-z]{26})$/.exec(cursor) ?? [];
  if (state === undefined || dueAt === undefined || id === undefined) throw invalidCursor();
  return { state: Number(state), dueAt: Number(dueAt), id };
}

async function waiting(
  db: Reader,
  workspaceId: string,
  { status, state, priority }: Range,
  targetMs: number,
  after: WaitingCursor | undefined,
): Promise<readonly Omit<WaitingCursor, "state">[]> {
  // A generated column, so the table type, which is also used for writes, lacks it.
  const waitingSince = sql<number | null>`waiting_since`;
  let query = db
    .selectFrom("conversations")
    .select(["id", waitingSince.as("since")])
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", status)
    .where("sla_state", "=", state)
    .where("priority", "=", priority);
  if (after !== undefined) {
    const { id } = after;
    const since = after.dueAt - targetMs;
    query = query
      .where(waitingSince, ">=", since)
      .where((eb) => eb.or([eb(waitingSince, ">", since), eb("id", ">", id)]));
  }
  const rows = await query
    .orderBy(waitingSince)
    .orderBy("id")
    .limit(pageSize + 1)
    .execute();
  return rows.map((row) => ({ id: row.id, dueAt: (row.since ?? 0) + targetMs }));
}

/** The conversations of these ids, in their order. */
async function rowsOf(db: Reader, ids: readonly string[]): Promise<readonly ConversationRow[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("conversations")
    .selectAll()
    .where("id", "in", [...ids])
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

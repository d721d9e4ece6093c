import { sql } from "kysely";
import type { Reader, Tx } from "#database/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { workTitle } from "./work-titles.ts";

const shownMax = 500;
const pageSize = 500;

/** Tables of the things that work is for, by the prefix of their ids. */
const tables = {
  conv: "conversations",
  doc: "documents",
  con: "contacts",
  acc: "accounts",
  whe: "webhooks",
  agt: "agents",
} as const;

const isPrefix = (text: string): text is keyof typeof tables => Object.hasOwn(tables, text);
const idPattern = /(?:wt_\w{6}_\w{10,}|\b(?:conv|doc|con|acc|whe|agt)_[0-9a-z]{26})\b/g;

type Row = Pick<OutboxRow, "id" | "kind" | "lane" | "payload" | "last_error" | "dead_at">;

/** Given-up work that administrators of a workspace see. */
export interface DeadLetter {
  readonly row: Row;
  /** The work is for no workspace, such as the cleanup or mail. */
  readonly isShared: boolean;
  /** The work is for this workspace alone. */
  readonly isOwn: boolean;
  readonly conversationId: string | null;
}

/** Whether running given-up work again is safe and useful. The program's table of work decides. */
export type CanRetry = (row: Pick<OutboxRow, "kind" | "payload" | "last_error">, now: number) => boolean;

/**
 * Lists the work of a workspace that was given up, newest first. Work for no workspace is shown to all, without its error,
 * which may name people of another workspace.
 */
export async function readDeadLetters(db: Reader, canRetry: CanRetry, workspaceId: string, now: number) {
  const found: DeadLetter[] = [];
  for await (const page of deadLetterPages(db, workspaceId)) {
    found.push(...page);
    if (found.length >= shownMax) break;
  }
  const isAlone = found.every(({ isOwn }) => isOwn) || (await isOnlyWorkspace(db));
  return found.slice(0, shownMax).map(({ row, isShared, isOwn, conversationId }) => ({
    id: String(row.id),
    conversation_id: conversationId,
    kind: row.kind,
    title: workTitle(row.kind),
    error: isShared ? null : row.last_error,
    at: new Date(row.dead_at ?? 0).toISOString(),
    can_retry: canRetry(row, now),
    can_dismiss: isOwn || isAlone,
  }));
}

/** All given-up work that the workspace sees, newest first. */
export async function* deadLetterPages(
  db: Reader,
  workspaceId: string,
): AsyncGenerator<readonly DeadLetter[], undefined, undefined> {
  for (let last: Row | undefined; ;) {
    const rows = await pageOf(db, workspaceId, last);
    yield await visible(db, workspaceId, rows);
    last = rows.at(-1);
    if (rows.length < pageSize) return;
  }
}

/** Undefined: there is no such work, or another workspace's. `row.dead_at` is null while the work is tried. */
export async function findDeadLetter(
  db: Reader | Tx,
  workspaceId: string,
  given: string,
): Promise<DeadLetter | undefined> {
  const id = /^[1-9]\d{0,14}$/u.test(given) ? Number(given) : 0;
  const [letter] = await visible(db, workspaceId, await shownTo(db, workspaceId).where("id", "=", id).execute());
  return letter;
}

/** Whether work for no workspace is nobody else's. */
export async function isOnlyWorkspace(db: Reader | Tx): Promise<boolean> {
  const found = await db.selectFrom("workspaces").select("id").where("deleted_at", "is", null).limit(2).execute();
  return found.length < 2;
}

async function visible(db: Reader | Tx, workspaceId: string, rows: readonly Row[]): Promise<readonly DeadLetter[]> {
  const named = rows.map((row) => ({ row, ids: idsOf(row) }));
  const own = await ownIds(db, workspaceId, new Set(named.flatMap(({ ids }) => ids)));
  return named
    .filter(({ ids }) => ids.length === 0 || ids.some((id) => own.has(id)))
    .map(({ row, ids }) => ({
      row,
      isShared: ids.length === 0,
      isOwn: ids.length > 0 && ids.every((id) => own.has(id)),
      conversationId: ids.find((id) => id.startsWith("conv_") && own.has(id)) ?? null,
    }));
}

const idInLane = sql<string>`substr(outbox.lane, instr(outbox.lane, ':') + 1)`;
const prefixInLane = sql<string>`substr(${idInLane}, 1, instr(${idInLane}, '_'))`;
const ownedPrefixes = [...Object.keys(tables), "wt"].map((prefix) => `${prefix}_`);

function pageOf(db: Reader, workspaceId: string, last: Row | undefined) {
  let query = shownTo(db, workspaceId).where("dead_at", "is not", null);
  if (last !== undefined) {
    query = query.where((eb) =>
      eb.or([eb("dead_at", "<", last.dead_at), eb.and([eb("dead_at", "=", last.dead_at), eb("id", "<", last.id)])]),
    );
  }
  return query.orderBy("dead_at", "desc").orderBy("id", "desc").limit(pageSize).execute();
}

/** Leaves out lanes of another workspace. Lanes without an id of a workspace are included: their payload may have one. */
function shownTo(db: Reader | Tx, workspaceId: string) {
  return db
    .selectFrom("outbox")
    .select(["id", "kind", "lane", "payload", "last_error", "dead_at"])
    .where((eb) =>
      eb.or([
        eb(prefixInLane, "not in", ownedPrefixes),
        eb(idInLane, "=", workspaceId),
        ...Object.values(tables).map((table) =>
          eb.exists(
            db.selectFrom(table).select("id").where("workspace_id", "=", workspaceId).where("id", "=", idInLane),
          ),
        ),
      ]),
    );
}

/** The ids in the lane, or else in the fields of the payload. Texts of customers may hold ids, and are not searched. */
function idsOf({ lane, payload }: { readonly lane: string; readonly payload: string }): readonly string[] {
  const inLane = lane.match(idPattern);
  if (inLane !== null) return inLane;
  const fields = Object.entries(JSON.parse(payload) as object).filter(([name]) => /Ids?$|^files$/u.test(name));
  return JSON.stringify(fields).match(idPattern) ?? [];
}

/** Keeps the ids that belong to the workspace. */
async function ownIds(db: Reader | Tx, workspaceId: string, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const own = new Set([workspaceId]);
  for (const [prefix, some] of Map.groupBy(ids, (id) => id.split("_", 1)[0] ?? "")) {
    if (!isPrefix(prefix)) continue;
    const query = db.selectFrom(tables[prefix]).select("id").where("workspace_id", "=", workspaceId);
    for (const { id } of await query.where("id", "in", some).execute()) own.add(id);
  }
  return own;
}

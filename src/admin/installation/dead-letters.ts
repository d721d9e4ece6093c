import { sql } from "kysely";
import type { Reader } from "#database/contract.ts";

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

/**
 * Reads the work of a workspace that was given up, newest first. Work for no workspace, such as the cleanup or mail, is
 * shown to all, without its error, which may name people of another workspace.
 */
export async function readDeadLetters(db: Reader, workspaceId: string) {
  const found: { conversation_id: string | null; kind: string; error: string | null; at: string }[] = [];
  for (let last: DeadLetter | undefined; ;) {
    const page = await pageOf(db, workspaceId, last);
    const dead = page.map((row) => ({ ...row, ids: idsOf(row) }));
    const own = await ownIds(db, workspaceId, new Set(dead.flatMap(({ ids }) => ids)));
    for (const { ids, kind, last_error: error, dead_at: at } of dead) {
      if (ids.length > 0 && !ids.some((id) => own.has(id))) continue;
      found.push({
        conversation_id: ids.find((id) => id.startsWith("conv_") && own.has(id)) ?? null,
        kind,
        error: ids.length === 0 ? null : error,
        at: new Date(at ?? 0).toISOString(),
      });
    }
    last = page.at(-1);
    if (page.length < pageSize || found.length >= shownMax) return found.slice(0, shownMax);
  }
}

type DeadLetter = Awaited<ReturnType<typeof pageOf>>[number];

const idInLane = sql<string>`substr(outbox.lane, instr(outbox.lane, ':') + 1)`;
const prefixInLane = sql<string>`substr(${idInLane}, 1, instr(${idInLane}, '_'))`;
const ownedPrefixes = [...Object.keys(tables), "wt"].map((prefix) => `${prefix}_`);

/** Leaves out lanes of another workspace. Lanes without an id of a workspace are included: their payload may have one. */
function pageOf(
  db: Reader,
  workspaceId: string,
  last: { readonly id: number; readonly dead_at: number | null } | undefined,
) {
  let query = db
    .selectFrom("outbox")
    .select(["id", "kind", "lane", "payload", "last_error", "dead_at"])
    .where("dead_at", "is not", null)
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
  if (last !== undefined) {
    query = query.where((eb) =>
      eb.or([eb("dead_at", "<", last.dead_at), eb.and([eb("dead_at", "=", last.dead_at), eb("id", "<", last.id)])]),
    );
  }
  return query.orderBy("dead_at", "desc").orderBy("id", "desc").limit(pageSize).execute();
}

/** The ids in the lane, or else in the fields of the payload. Texts of customers may hold ids, and are not searched. */
function idsOf({ lane, payload }: { readonly lane: string; readonly payload: string }): readonly string[] {
  const inLane = lane.match(idPattern);
  if (inLane !== null) return inLane;
  const fields = Object.entries(JSON.parse(payload) as object).filter(([name]) => /Ids?$|^files$/u.test(name));
  return JSON.stringify(fields).match(idPattern) ?? [];
}

/** Keeps the ids that belong to the workspace. */
async function ownIds(db: Reader, workspaceId: string, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const byPrefix = Map.groupBy(ids, (id) => id.split("_", 1)[0] ?? "");
  const found = await Promise.all(
    [...byPrefix].map(async ([prefix, some]) => {
      if (!isPrefix(prefix)) return [];
      const query = db.selectFrom(tables[prefix]).select("id").where("workspace_id", "=", workspaceId);
      return query.where("id", "in", some).execute();
    }),
  );
  return new Set([workspaceId, ...found.flat().map(({ id }) => id)]);
}

import type { Selectable } from "kysely";
import { sql } from "kysely";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { prepareRead, prepareWork } from "#database/dialects/prepared.ts";
import type { OutboxTable } from "#database/schema/tables.ts";

export type OutboxRow = Selectable<OutboxTable>;

export interface NewWork {
  readonly lane: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly dueAt: number;
  /** Set when this process begins it at once, itself. */
  readonly lease?: { readonly id: string; readonly until: number };
}

export async function insertWork(tx: Tx, works: readonly NewWork[], now: number): Promise<void> {
  await insertRows(
    tx,
    "outbox",
    works.map(({ lane, kind, payload, dueAt, lease }) => ({
      lane,
      kind,
      payload: JSON.stringify(payload),
      due_at: dueAt,
      attempts: 0,
      lease_id: lease?.id ?? null,
      lease_until: lease?.until ?? null,
      dead_at: null,
      last_error: null,
      created_at: now,
    })),
  );
}

/** Queues work unless the same already waits in its lane. */
export async function insertWorkOnce(tx: Tx, work: NewWork, now: number): Promise<void> {
  const waiting = await tx
    .selectFrom("outbox")
    .select("id")
    .where("lane", "=", work.lane)
    .where("payload", "=", JSON.stringify(work.payload))
    .limit(1)
    .executeTakeFirst();
  if (waiting === undefined) await insertWork(tx, [work], now);
}

/** Thrown when work was taken over by another process, or withdrawn, while it was being done: its result is void. */
export class LostLease extends Error {
  constructor() {
    super("this work has been taken over or withdrawn");
    this.name = "LostLease";
  }
}

/** Thrown when some of the work that was done together failed, and the rest of it is done and ended. */
export class PartlyFailed extends Error {
  readonly failures: readonly { readonly row: OutboxRow; readonly error: unknown }[];

  constructor(failures: PartlyFailed["failures"]) {
    super(`${failures.length} of the works that were done together failed`, { cause: failures[0]?.error });
    this.name = "PartlyFailed";
    this.failures = failures;
  }
}

/** Marks work as done, in the transaction that stores its result. */
export async function finishWork(tx: Tx, rows: readonly OutboxRow[]): Promise<void> {
  for (const [leaseId, of] of Map.groupBy(rows, (row) => row.lease_id ?? "")) {
    const { numAffectedRows } = await deleteLeased(tx, { ids: of.map(({ id }) => id), leaseId });
    if (Number(numAffectedRows) !== of.length) throw new LostLease();
  }
}

const deleteLeased = prepareWork(
  (db, { ids, leaseId }: { readonly ids: readonly number[]; readonly leaseId: string }) =>
    db.deleteFrom("outbox").where("id", "in", ids).where("lease_id", "=", leaseId),
);

/** For storing something of work that goes on: throws {@link LostLease} where it is not this process's any more. */
export async function holdWork(tx: Tx, { id, lease_id: leaseId }: OutboxRow): Promise<void> {
  const query = tx.selectFrom("outbox").select("id").where("id", "=", id).where("lease_id", "=", leaseId);
  const held = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
  if (held === undefined) throw new LostLease();
}

/**
 * Where several write at the same time, nobody takes these over until the transaction ends. Nothing else tells whose they
 * are there: who is about to take them may not have stored it yet.
 */
export async function lockWork(tx: Tx, rows: readonly OutboxRow[]): Promise<void> {
  if (dialectOf(tx) !== "mysql") return;
  const locked = await lockRows(tx, { ids: rows.map(({ id }) => id) });
  const leases = new Map(locked.rows.map(({ id, lease_id: leaseId }) => [id, leaseId]));
  if (rows.some(({ id, lease_id: leaseId }) => leases.get(id) !== leaseId)) throw new LostLease();
}

/** By their ids alone: by the index of leases, others would be locked too. */
const lockRows = prepareWork((db, { ids }: { readonly ids: readonly number[] }) =>
  db.selectFrom("outbox").select(["id", "lease_id"]).where("id", "in", ids).forUpdate(),
);

/** Whether the work is this process's still, as far as is known without a transaction. */
export async function isHeld(
  store: Pick<Store, "read" | "select">,
  { id, lease_id: leaseId }: Pick<OutboxRow, "id" | "lease_id">,
): Promise<boolean> {
  const [row] = await leaseOf(store, { id });
  return row !== undefined && row.lease_id === leaseId;
}

const leaseOf = prepareRead((db, { id }: { readonly id: number }) =>
  db.selectFrom("outbox").select("lease_id").where("id", "=", id),
);

/**
 * Takes what is due in these lanes, in order. A lane is taken only while nobody else holds any of it, and only up to its
 * first row that is not due, so that its order holds where the kind needs one. What may be claimed at the same time under
 * the same name must have leases that end at different times: by that they are told apart.
 */
export async function claimLanes(
  tx: Tx,
  lanes: readonly string[],
  lease: { readonly id: string; readonly until: number },
  now: number,
): Promise<OutboxRow[]> {
  if (lanes.length === 0) return [];
  const { rows } = await rowsOfLanes(tx, { lanes });
  const taken: OutboxRow[] = [];
  for (const lane of Map.groupBy(rows, (row) => row.lane).values()) {
    const held = lane.some((row) => row.lease_id !== null && (row.lease_until ?? 0) > now);
    if (held) continue;
    for (const row of lane) {
      if (taken.length >= claimMax) break;
      if (row.due_at <= now) taken.push(row);
      else if (!unorderedKinds.has(row.kind)) break;
    }
  }
  if (taken.length === 0) return [];
  const ids = taken.map(({ id }) => id);
  const { numAffectedRows } = await leaseRows(tx, { ids, leaseId: lease.id, until: lease.until, now });
  const claimed = taken.map((row) => ({ ...row, lease_id: lease.id, lease_until: lease.until }));
  if (Number(numAffectedRows) === taken.length) return claimed;
  // Another worker took some lanes first: give up every lane that is not wholly ours.
  const found = await tx
    .selectFrom("outbox")
    .select(["id", "lane", "lease_id", "lease_until"])
    .where("lane", "in", lanes)
    .execute();
  const isOurs = (row: (typeof found)[number]): boolean =>
    row.lease_id === lease.id && row.lease_until === lease.until && ids.includes(row.id);
  const lost = new Set(found.filter((row) => row.lease_id !== null && !isOurs(row)).map((row) => row.lane));
  const mine = new Set(found.filter(isOurs).map((row) => row.id));
  const release = claimed.filter((row) => lost.has(row.lane) && mine.has(row.id)).map(({ id }) => id);
  if (release.length > 0) {
    await tx.updateTable("outbox").set({ lease_id: null, lease_until: null }).where("id", "in", release).execute();
  }
  return claimed.filter((row) => mine.has(row.id) && !lost.has(row.lane));
}

/** Said so that the lanes are found by their own index. By that of what is due, SQLite would read all that waits. */
const notDead = sql<number>`coalesce(dead_at, 0)`;

const rowsOfLanes = prepareWork((db, { lanes }: { readonly lanes: readonly string[] }) =>
  db.selectFrom("outbox").selectAll().where("lane", "in", lanes).where(notDead, "=", 0).orderBy("id"),
);

interface Leasing extends Readonly<Record<string, string | number | readonly number[]>> {
  readonly ids: readonly number[];
  readonly leaseId: string;
  readonly until: number;
  readonly now: number;
}

const leaseRows = prepareWork((db, { ids, leaseId, until, now }: Leasing) =>
  db
    .updateTable("outbox")
    .set({ lease_id: leaseId, lease_until: until })
    .where("id", "in", ids)
    .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)])),
);

const claimMax = 400;

/**
 * Kinds that do the same whatever came before them. One row that is due later, by a retry or a clock gone wrong, must not
 * hold up all that shares its lane.
 */
export const unorderedKinds: ReadonlySet<string> = new Set(["desk-erase", "index", "relink", "retime", "tell"]);

/** Lanes whose first free row is due, oldest first, without those of the kinds `except`. */
export async function dueLanes(
  db: Reader,
  now: number,
  { except, limit }: { readonly except: readonly string[]; readonly limit: number },
): Promise<string[]> {
  let query = db
    .selectFrom("outbox")
    .select("lane")
    .where("dead_at", "is", null)
    .where("due_at", "<=", now)
    .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)]));
  if (except.length > 0) query = query.where("kind", "not in", except);
  const rows = await query.orderBy("due_at").limit(limit).execute();
  return [...new Set(rows.map(({ lane }) => lane))];
}

/** Those of these lanes in which something is due that nobody does. */
export async function lanesWithWork(
  store: Pick<Store, "read" | "select">,
  lanes: readonly string[],
  now: number,
): Promise<readonly string[]> {
  if (lanes.length === 0) return [];
  return (await waitingLanes(store, { lanes, now })).map(({ lane }) => lane);
}

interface Looking extends Readonly<Record<string, number | readonly string[]>> {
  readonly lanes: readonly string[];
  readonly now: number;
}

const waitingLanes = prepareRead((db, { lanes, now }: Looking) =>
  db
    .selectFrom("outbox")
    .select("lane")
    .distinct()
    .where("lane", "in", lanes)
    .where(notDead, "=", 0)
    .where("due_at", "<=", now)
    .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)])),
);

/** Whether anything is to be done in this lane, be it later or by somebody already. */
export async function hasWork(db: Reader, lane: string): Promise<boolean> {
  const found = await db
    .selectFrom("outbox")
    .select("id")
    .where("lane", "=", lane)
    .where(notDead, "=", 0)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** When the next row will be due that is not due yet; null when there is none. */
export async function nextDue(db: Reader, now: number): Promise<number | null> {
  const row = await db
    .selectFrom("outbox")
    .select((eb) => eb.fn.min("due_at").as("at"))
    .where("dead_at", "is", null)
    .where("due_at", ">", now)
    .executeTakeFirst();
  return row?.at ?? null;
}

export async function renewLeases(
  tx: Tx,
  lanes: readonly string[],
  lease: { readonly id: string; readonly until: number },
): Promise<void> {
  if (lanes.length === 0) return;
  await tx
    .updateTable("outbox")
    .set({ lease_until: lease.until })
    .where("lease_id", "=", lease.id)
    .where("lane", "in", lanes)
    .execute();
}

/** Gives back what is taken under these leases; with `lanes`, of those alone. */
export async function releaseLeases(tx: Tx, leaseIds: readonly string[], lanes?: readonly string[]): Promise<void> {
  if (leaseIds.length === 0 || lanes?.length === 0) return;
  let release = tx.updateTable("outbox").set({ lease_id: null, lease_until: null }).where("lease_id", "in", leaseIds);
  if (lanes !== undefined) release = release.where("lane", "in", lanes);
  await release.execute();
}

/**
 * Puts work back after a failure, not to be tried before `dueAt`; `dead`: never, until somebody replays it. False: another
 * process has it by now, or it was withdrawn, and nothing is changed.
 */
export async function deferWork(
  tx: Tx,
  row: OutboxRow,
  outcome: {
    readonly dueAt: number;
    readonly error: string;
    readonly dead: boolean;
    readonly now: number;
    /** False: the try does not count. Default: it does. */
    readonly counts?: boolean;
  },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("outbox")
    .set({
      attempts: outcome.counts === false ? row.attempts : row.attempts + 1,
      due_at: outcome.dueAt,
      lease_id: null,
      lease_until: null,
      last_error: outcome.error.slice(0, 2_000),
      dead_at: outcome.dead ? outcome.now : null,
    })
    .where("id", "=", row.id)
    .where("lease_id", "=", row.lease_id ?? "")
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return false;
  if (outcome.dead || unorderedKinds.has(row.kind)) return true;
  // What follows in the lane waits for it, and would only be found and passed over again and again.
  await tx
    .updateTable("outbox")
    .set({ due_at: outcome.dueAt, lease_id: null, lease_until: null })
    .where("lane", "=", row.lane)
    .where("id", ">", row.id)
    .where("due_at", "<", outcome.dueAt)
    .execute();
  return true;
}

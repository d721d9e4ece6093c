import type { Selectable } from "kysely";
import { sql } from "kysely";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { prepareRead, prepareStatement } from "#database/dialects/prepared.ts";
import type { OutboxTable } from "#database/schema/tables.ts";

export type OutboxRow = Selectable<OutboxTable>;

/** A claimed row, without its payload. */
export type LeasedRow = Omit<OutboxRow, "payload">;

export interface NewWork {
  readonly lane: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly dueAt: number;
  /** Set when this process runs the work at once. */
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

/** Queues work, unless the same work is queued in its lane. Work that was given up there does not count. */
export async function insertWorkOnce(tx: Tx, work: NewWork, now: number): Promise<void> {
  const waiting = await tx
    .selectFrom("outbox")
    .select("id")
    .where("lane", "=", work.lane)
    .where("payload", "=", JSON.stringify(work.payload))
    .where("dead_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (waiting === undefined) await insertWork(tx, [work], now);
}

/** Thrown when another process took over the work, or it was withdrawn, while it ran. Its result must be discarded. */
export class LostLease extends Error {
  constructor() {
    super("this work has been taken over or withdrawn");
    this.name = "LostLease";
  }
}

/** Thrown when part of a batch failed; the rest of the batch is finished. */
export class PartlyFailed extends Error {
  readonly failures: readonly { readonly row: LeasedRow; readonly error: unknown }[];

  constructor(failures: PartlyFailed["failures"]) {
    super(`${failures.length} of the works that were done together failed`, { cause: failures[0]?.error });
    this.name = "PartlyFailed";
    this.failures = failures;
  }
}

/** Marks work as done. Must be called in the transaction that stores its result. */
export async function finishWork(tx: Tx, rows: readonly LeasedRow[]): Promise<void> {
  for (const [leaseId, of] of Map.groupBy(rows, (row) => row.lease_id ?? "")) {
    const { numAffectedRows } = await deleteLeased(tx, { ids: of.map(({ id }) => id), leaseId });
    if (Number(numAffectedRows) !== of.length) throw new LostLease();
  }
}

const deleteLeased = prepareStatement(
  (db, { ids, leaseId }: { readonly ids: readonly number[]; readonly leaseId: string }) =>
    db.deleteFrom("outbox").where("id", "in", ids).where("lease_id", "=", leaseId),
);

/** Called before storing intermediate results. Throws {@link LostLease} when this process lost the lease. */
export async function holdWork(tx: Tx, { id, lease_id: leaseId }: LeasedRow): Promise<void> {
  const query = tx.selectFrom("outbox").select("id").where("id", "=", id).where("lease_id", "=", leaseId);
  const held = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
  if (held === undefined) throw new LostLease();
}

/**
 * Prevents other processes from claiming these rows until the transaction ends. Reading the lease is not enough: another
 * transaction may be claiming the rows at the same time.
 */
export async function lockWork(tx: Tx, rows: readonly LeasedRow[]): Promise<void> {
  if (dialectOf(tx) !== "mysql") return;
  const locked = await lockRows(tx, { ids: rows.map(({ id }) => id) });
  const leases = new Map(locked.rows.map(({ id, lease_id: leaseId }) => [id, leaseId]));
  if (rows.some(({ id, lease_id: leaseId }) => leases.get(id) !== leaseId)) throw new LostLease();
}

/** Selects by id only, since the index of leases would lock other rows too. */
const lockRows = prepareStatement((db, { ids }: { readonly ids: readonly number[] }) =>
  db.selectFrom("outbox").select(["id", "lease_id"]).where("id", "in", ids).forUpdate(),
);

/** Whether this process still holds the lease. Without a transaction the answer may be outdated. */
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
 * Claims the due rows of these lanes, in order. A lane is claimed only while no other lease holds any of its rows, and only
 * up to its first row that is not due, which keeps the order. Concurrent claims under the same lease id must end at
 * different times, by which they are distinguished. `unordered`: kinds whose rows do not wait for an earlier one.
 */
export async function claimLanes(
  tx: Tx,
  lanes: readonly string[],
  lease: { readonly id: string; readonly until: number },
  now: number,
  unordered: ReadonlySet<string> = new Set(),
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
      else if (!unordered.has(row.kind)) break;
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

/** Keeps SQLite from choosing the index of due times, with which it would read all queued rows. */
const notDead = sql<number>`coalesce(dead_at, 0)`;

const rowsOfLanes = prepareStatement((db, { lanes }: { readonly lanes: readonly string[] }) =>
  db.selectFrom("outbox").selectAll().where("lane", "in", lanes).where(notDead, "=", 0).orderBy("id"),
);

interface Leasing extends Readonly<Record<string, string | number | readonly number[]>> {
  readonly ids: readonly number[];
  readonly leaseId: string;
  readonly until: number;
  readonly now: number;
}

const leaseRows = prepareStatement((db, { ids, leaseId, until, now }: Leasing) =>
  db
    .updateTable("outbox")
    .set({ lease_id: leaseId, lease_until: until })
    .where("id", "in", ids)
    .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)])),
);

const claimMax = 400;

/** Lanes whose first free row is due, oldest first, without the kinds `except`. */
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

/** The ones of these lanes with due rows that are not leased. */
export async function lanesWithWork(
  store: Pick<Store, "read" | "select">,
  lanes: readonly string[],
  now: number,
): Promise<readonly string[]> {
  if (lanes.length === 0) return [];
  return (await waitingLanes(store, { lanes, now })).map(({ lane }) => lane);
}

interface LaneQuery extends Readonly<Record<string, number | readonly string[]>> {
  readonly lanes: readonly string[];
  readonly now: number;
}

const waitingLanes = prepareRead((db, { lanes, now }: LaneQuery) =>
  db
    .selectFrom("outbox")
    .select("lane")
    .distinct()
    .where("lane", "in", lanes)
    .where(notDead, "=", 0)
    .where("due_at", "<=", now)
    .where((eb) => eb.or([eb("lease_id", "is", null), eb("lease_until", "<=", now)])),
);

/** The ones of these lanes with work that waits for its first attempt, due later. */
export async function lanesWithLaterWork(
  store: Pick<Store, "read" | "select">,
  lanes: readonly string[],
  now: number,
): Promise<readonly string[]> {
  if (lanes.length === 0) return [];
  return (await laterLanes(store, { lanes, now })).map(({ lane }) => lane);
}

const laterLanes = prepareRead((db, { lanes, now }: LaneQuery) =>
  db
    .selectFrom("outbox")
    .select("lane")
    .distinct()
    .where("lane", "in", lanes)
    .where(notDead, "=", 0)
    .where("due_at", ">", now)
    .where("attempts", "=", 0)
    .where("lease_id", "is", null),
);

/** Whether the lane has any work, including work that is leased or due later. */
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

/** The next due time after `now`; null when there is none. */
export async function nextDue(db: Reader, now: number): Promise<number | null> {
  const row = await db
    .selectFrom("outbox")
    .select((eb) => eb.fn.min("due_at").as("at"))
    .where("dead_at", "is", null)
    .where("due_at", ">", now)
    .executeTakeFirst();
  return row?.at ?? null;
}

/**
 * Gives all work of a lane that waits for its first attempt one due time, at most `waitMaxMs` after the oldest was queued.
 */
export async function rescheduleWork(
  tx: Tx,
  lanes: readonly string[],
  dueAt: number,
  waitMaxMs: number,
): Promise<void> {
  const rows = await tx
    .selectFrom("outbox")
    .select(["id", "lane", "created_at"])
    .where("lane", "in", lanes)
    .where(notDead, "=", 0)
    .where("attempts", "=", 0)
    .where("lease_id", "is", null)
    .execute();
  for (const lane of Map.groupBy(rows, (row) => row.lane).values()) {
    const oldest = Math.min(...lane.map((row) => row.created_at));
    // Updated by id only, since the index of lanes would lock other rows too.
    await tx
      .updateTable("outbox")
      .set({ due_at: Math.min(dueAt, oldest + waitMaxMs) })
      .where(
        "id",
        "in",
        lane.map(({ id }) => id),
      )
      .where("lease_id", "is", null)
      .execute();
  }
}

/** Makes dead letters due as if they were new. Returns the ids of those that still were dead. */
export async function retryDeadWork(tx: Tx, ids: readonly number[], now: number): Promise<ReadonlySet<number>> {
  const query = tx.selectFrom("outbox").select("id").where("id", "in", ids).where("dead_at", "is not", null);
  const dead = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).execute();
  const retried = dead.map(({ id }) => id);
  if (retried.length > 0) {
    const anew = { due_at: now, attempts: 0, dead_at: null, lease_id: null, lease_until: null, last_error: null };
    await tx.updateTable("outbox").set(anew).where("id", "in", retried).execute();
  }
  return new Set(retried);
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

/** Releases the rows of these leases; with `lanes`, only the rows of these lanes. */
export async function releaseLeases(tx: Tx, leaseIds: readonly string[], lanes?: readonly string[]): Promise<void> {
  if (leaseIds.length === 0 || lanes?.length === 0) return;
  let release = tx.updateTable("outbox").set({ lease_id: null, lease_until: null }).where("lease_id", "in", leaseIds);
  if (lanes !== undefined) release = release.where("lane", "in", lanes);
  await release.execute();
}

/**
 * Puts work back after a failure, to be retried at `dueAt`; `dead`: never retried. False, without a change: another
 * process has the work, or it was withdrawn.
 */
export async function deferWork(
  tx: Tx,
  row: LeasedRow,
  outcome: {
    readonly dueAt: number;
    readonly error: string;
    readonly dead: boolean;
    /** Whether later rows of the lane may be done before this one. */
    readonly unordered: boolean;
    readonly now: number;
    /** Whether the attempt counts. Default: true. */
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
  if (outcome.dead || outcome.unordered) return true;
  // Later rows of the lane wait for this one; deferred too, they are not claimed in vain.
  await tx
    .updateTable("outbox")
    .set({ due_at: outcome.dueAt, lease_id: null, lease_until: null })
    .where("lane", "=", row.lane)
    .where("id", ">", row.id)
    .where("due_at", "<", outcome.dueAt)
    .execute();
  return true;
}

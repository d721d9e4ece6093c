import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Heartbeats } from "#database/clock-skew.ts";
import type { Counter } from "./counters.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";
import { notSilent } from "#database/process-heartbeat.ts";
import { createRequestsInFlight } from "./requests-in-flight.ts";

export interface Taken {
  /** False: one of the counters was at its limit, and none was incremented. */
  readonly taken: boolean;
  /** The values including this request, in the order of the counters, even when it was refused. */
  readonly values: readonly number[];
  /** Refused because too many requests of the key are in flight. */
  readonly crowded: boolean;
}

export interface RateLimitStore {
  /**
   * Increments each counter, unless one of them would exceed its limit. The counts survive this process, but not
   * necessarily a power failure. With a key, whose request must have been entered, the request is also refused when more
   * than `inFlightMax` requests of the key are in flight in all processes.
   */
  take(counters: readonly Counter[], limits: readonly number[], keyId?: string): Promise<Taken>;
  /** Enters a request of this key, and returns the function that ends it, to be called once. Null: too many are in flight. */
  enter(keyId: string): (() => void) | null;
}

export interface RateLimitStoreOptions {
  readonly store: Pick<Store, "write">;
  readonly clock: Pick<Clock, "now" | "timer">;
  readonly log: Pick<Log, "warn">;
  readonly processId: string;
  readonly watch: Pick<ProcessWatch, "silent">;
  /** Limit per key. */
  readonly inFlightMax: number;
}

interface PendingCount {
  readonly counters: readonly Counter[];
  readonly limits: readonly number[];
  readonly keyId: string | undefined;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (reason: unknown) => void;
}

const batchMax = 500;
/** Retry of a failed write of ended requests; no later request may come to report them. */
const againMs = 1_000;

/**
 * Counts requests in batches, since a transaction for each API request would cost more than most requests. Requests that
 * arrive while a batch is written form the next batch.
 */
export function createRateLimitStore({
  store,
  clock,
  log,
  processId,
  watch,
  inFlightMax,
}: RateLimitStoreOptions): RateLimitStore {
  const waiting: PendingCount[] = [];
  const inFlight = createRequestsInFlight(processId);
  let writing = false;

  async function writeNext(): Promise<void> {
    if (writing || (waiting.length === 0 && !inFlight.hasNews())) return;
    writing = true;
    const batch = waiting.splice(0, batchMax);
    let failed = false;
    try {
      const { taken, reported } = await store.write((tx) => write(tx, batch), { flush: false });
      reported?.committed();
      for (const [i, each] of batch.entries()) each.resolve(taken[i] ?? { taken: false, values: [], crowded: false });
    } catch (error) {
      failed = batch.length === 0;
      if (failed) log.warn({ err: error }, "rate-limits: storing finished requests failed, retrying");
      for (const each of batch) each.reject(error);
    } finally {
      writing = false;
      if (failed) clock.timer(againMs, () => void writeNext());
      else setImmediate(() => void writeNext());
    }
  }

  async function write(tx: Tx, batch: readonly PendingCount[]) {
    if (batch.length === 0) return { taken: [], reported: await inFlight.report(tx) };
    const sums = sumsOf(batch);
    const silent = watch.silent();
    const { rows, others } = await add(tx, sums, { processId, silent });
    const keyIds = [...new Set(batch.flatMap(({ keyId }) => keyId ?? []))];
    const together = others > 0 && keyIds.length > 0;
    const reported = together || inFlight.hasNews() ? await inFlight.report(tx) : null;
    // The counters of the key are locked, so that two processes cannot both admit its last request.
    const elsewhere = together ? await inFlight.elsewhere(tx, keyIds, silent) : new Map<string, number>();
    const room = new Map(
      keyIds.map((keyId) => {
        const here = inFlight.here(keyId) - batch.filter((each) => each.keyId === keyId).length;
        return [keyId, inFlightMax - (elsewhere.get(keyId) ?? 0) - Math.max(0, here)];
      }),
    );
    return { taken: await takeAll(tx, batch, { sums, rows, room }), reported };
  }

  return {
    take: (counters, limits, keyId) =>
      new Promise((resolve, reject) => {
        waiting.push({ counters, limits, keyId, resolve, reject });
        if (waiting.length === 1) setImmediate(() => void writeNext());
      }),
    enter(keyId) {
      if (inFlight.here(keyId) >= inFlightMax) return null;
      const leave = inFlight.enter(keyId);
      return () => {
        leave();
        if (inFlight.hasNews()) void writeNext();
      };
    },
  };
}

interface Sum {
  readonly counter: Counter;
  asked: number;
  /** The value within the batch. */
  value: number;
}

const keyOf = ({ name, windowStart }: Counter): string => `${windowStart} ${name}`;

function sumsOf(batch: readonly PendingCount[]): ReadonlyMap<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const counter of batch.flatMap(({ counters }) => counters)) {
    const sum = sums.get(keyOf(counter)) ?? { counter, asked: 0, value: 0 };
    sum.asked += 1;
    sums.set(keyOf(counter), sum);
  }
  // A fixed order prevents deadlocks between processes.
  return new Map([...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

interface Taking {
  readonly sums: ReadonlyMap<string, Sum>;
  readonly rows: readonly (Counter & { readonly value: number })[];
  /** How many more requests of each key may be in flight. */
  readonly room: Map<string, number>;
}

async function takeAll(
  tx: Tx,
  batch: readonly PendingCount[],
  { sums, rows, room }: Taking,
): Promise<readonly Taken[]> {
  for (const row of rows) {
    const sum = sums.get(keyOf(row));
    if (sum !== undefined) sum.value = row.value - sum.asked;
  }
  const begun = [...sums.values()].filter(({ value }) => value === 0).map(({ counter }) => counter);
  const taken = batch.map(({ counters, limits, keyId }): Taken => {
    const of = counters.map((counter) => sums.get(keyOf(counter)));
    const values = of.map((sum) => (sum?.value ?? 0) + 1);
    const fits = values.every((value, i) => value <= (limits[i] ?? 0));
    const left = keyId === undefined ? 1 : (room.get(keyId) ?? 0);
    if (!fits || left <= 0) return { taken: false, values, crowded: fits };
    for (const sum of of) if (sum !== undefined) sum.value += 1;
    if (keyId !== undefined) room.set(keyId, left - 1);
    return { taken: true, values, crowded: false };
  });
  const written = new Map(rows.map((row) => [keyOf(row), row.value]));
  for (const { counter, value } of sums.values()) {
    if (written.get(keyOf(counter)) === value) continue;
    // Undoes the increments of refused requests.
    await tx
      .updateTable("counters")
      .set({ value })
      .where("name", "=", counter.name)
      .where("window_start", "=", counter.windowStart)
      .execute();
  }
  // The first of a window clears the counter's earlier windows away.
  for (const { name, windowStart } of begun) {
    await tx.deleteFrom("counters").where("name", "=", name).where("window_start", "<", windowStart).execute();
  }
  return taken;
}

/**
 * The rows as they are then, and how many other processes run on this database. The rows stay locked until the end of
 * the transaction.
 */
async function add(
  tx: Tx,
  sums: ReadonlyMap<string, Sum>,
  { processId, silent }: { readonly processId: string; readonly silent: Heartbeats },
) {
  const given = [...sums.values()].map(({ counter, asked }) => ({
    name: counter.name,
    window_start: counter.windowStart,
    value: asked,
  }));
  await insertRows(tx, "counters", given, { keys: ["name", "window_start"], add: ["value"] });
  const rows = await tx
    .selectFrom("counters")
    .select((eb) => [
      "name",
      "window_start as windowStart",
      "value",
      eb
        .selectFrom("processes")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("id", "<>", processId)
        .where(notSilent(silent))
        .as("others"),
    ])
    .where("name", "in", [...new Set([...sums.values()].map(({ counter }) => counter.name))])
    .execute();
  return { rows, others: rows[0]?.others ?? 0 };
}

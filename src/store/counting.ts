import { sql } from "kysely";
import type { Store, Tx } from "#engine/ports.ts";
import type { Counter } from "./counters.ts";
import { dialectOf } from "./dialect.ts";

export interface Taken {
  /** False: one of the counters was at its limit, and none was counted up. */
  readonly taken: boolean;
  /** What the counters were with this one counted, in their order, also where it was not taken. */
  readonly values: readonly number[];
}

export interface Counting {
  /** Counts one up in each of these, unless one of them would go above its limit. Durable when it resolves. */
  take(counters: readonly Counter[], limits: readonly number[]): Promise<Taken>;
}

interface Waiting {
  readonly counters: readonly Counter[];
  readonly limits: readonly number[];
  readonly resolve: (taken: Taken) => void;
  readonly reject: (reason: unknown) => void;
}

const batchMax = 500;

/**
 * Counts what comes together together: every request of the API is counted, and a transaction of its own for each would
 * cost more than most of what they ask for. What comes while a batch is written is the next one.
 */
export function createCounting(store: Pick<Store, "write">): Counting {
  const waiting: Waiting[] = [];
  let writing = false;

  async function writeNext(): Promise<void> {
    if (writing || waiting.length === 0) return;
    writing = true;
    const batch = waiting.splice(0, batchMax);
    try {
      const taken = await store.write((tx) => takeAll(tx, batch));
      for (const [i, each] of batch.entries()) each.resolve(taken[i] ?? { taken: false, values: [] });
    } catch (error) {
      for (const each of batch) each.reject(error);
    } finally {
      writing = false;
      if (waiting.length > 0) setImmediate(() => void writeNext());
    }
  }

  return {
    take: (counters, limits) =>
      new Promise((resolve, reject) => {
        waiting.push({ counters, limits, resolve, reject });
        if (waiting.length === 1) setImmediate(() => void writeNext());
      }),
  };
}

interface Sum {
  readonly counter: Counter;
  asked: number;
  /** What it is in the course of the batch. */
  value: number;
}

const keyOf = ({ name, windowStart }: Counter): string => `${windowStart} ${name}`;

async function takeAll(tx: Tx, batch: readonly Waiting[]): Promise<readonly Taken[]> {
  const sums = new Map<string, Sum>();
  for (const counter of batch.flatMap(({ counters }) => counters)) {
    const sum = sums.get(keyOf(counter)) ?? { counter, asked: 0, value: 0 };
    sum.asked += 1;
    sums.set(keyOf(counter), sum);
  }
  // In one order, so that two processes that count the same cannot wait for each other.
  const all = [...sums.values()].toSorted((a, b) => (keyOf(a.counter) < keyOf(b.counter) ? -1 : 1));
  await add(tx, all);
  const names = [...new Set(all.map(({ counter }) => counter.name))];
  const rows = await tx
    .selectFrom("counters")
    .select(["name", "window_start as windowStart", "value"])
    .where("name", "in", names)
    .execute();
  for (const row of rows) {
    const sum = sums.get(keyOf(row));
    if (sum !== undefined) sum.value = row.value - sum.asked;
  }
  const begun = all.filter(({ value }) => value === 0).map(({ counter }) => counter);
  const taken = batch.map(({ counters, limits }): Taken => {
    const of = counters.map((counter) => sums.get(keyOf(counter)));
    const values = of.map((sum) => (sum?.value ?? 0) + 1);
    const fits = values.every((value, i) => value <= (limits[i] ?? 0));
    if (fits) for (const sum of of) if (sum !== undefined) sum.value += 1;
    return { taken: fits, values };
  });
  const written = new Map(rows.map((row) => [keyOf(row), row.value]));
  for (const { counter, value } of all) {
    if (written.get(keyOf(counter)) === value) continue;
    // What was refused is taken off again.
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

/** The rows stay locked until the end of the transaction. */
async function add(tx: Tx, sums: readonly Sum[]): Promise<void> {
  const insert = tx.insertInto("counters").values(
    sums.map(({ counter, asked }) => ({
      name: counter.name,
      window_start: counter.windowStart,
      value: asked,
    })),
  );
  if (dialectOf(tx) === "mysql") {
    await insert.onDuplicateKeyUpdate({ value: sql<number>`value + values(value)` }).execute();
  } else {
    await insert
      .onConflict((on) =>
        on
          .columns(["name", "window_start"])
          .doUpdateSet((eb) => ({ value: eb("counters.value", "+", eb.ref("excluded.value")) })),
      )
      .execute();
  }
}

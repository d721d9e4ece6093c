import { describe, expect, it } from "vitest";
import type { Tx } from "#database/contract.ts";
import { createBatchWriter } from "./batch-writer.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";

/** A database whose transactions begin when the test says so. */
function heldStore() {
  const begun: (() => Promise<void>)[] = [];
  return {
    begun,
    write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        begun.push(async () => work({} as Tx).then(resolve, reject));
      });
    },
    async run(): Promise<void> {
      for (let work = begun.shift(); work !== undefined; work = begun.shift()) {
        await work();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

describe("a batch of writes", () => {
  it("contains all items that arrived before the transaction began, each with its own result", async () => {
    const store = heldStore();
    const groups: number[][] = [];
    const put = createBatchWriter<number, number>({
      store,
      async all(_tx, items) {
        groups.push([...items]);
        return items.map((item) => item * 10);
      },
    });
    const results = [put(1), put(2), put(3)];
    await store.run();
    expect(await Promise.all(results)).toEqual([10, 20, 30]);
    const late = put(4);
    await store.run();
    expect(await late).toBe(40);
    expect(groups).toEqual([[1, 2, 3], [4]]);
  });

  it("fails for an invalid item alone", async () => {
    const store = heldStore();
    const put = createBatchWriter<number, number>({
      store,
      async all(_tx, items) {
        if (items.includes(2)) throw new Error("two is taken");
        return items;
      },
    });
    const results = Promise.allSettled([put(1), put(2), put(3)]);
    await store.run();
    expect((await results).map((each) => (each.status === "fulfilled" ? each.value : String(each.reason)))).toEqual([
      1,
      "Error: two is taken",
      3,
    ]);
  });

  it("fails for all items if no transaction can begin", async () => {
    const put = createBatchWriter<number, number>({
      store: { write: () => Promise.reject(new Error("the database is away")) },
      all: async (_tx, items) => items,
    });
    const results = await Promise.allSettled([put(1), put(2)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("has a maximum size; the next batch has the rest", async () => {
    const store = heldStore();
    const sizes: number[] = [];
    const put = createBatchWriter<number, number>({
      store,
      async all(_tx, items) {
        sizes.push(items.length);
        return items;
      },
    });
    const results = Array.from({ length: 250 }, (_, i) => put(i));
    await store.run();
    expect(await Promise.all(results)).toEqual(Array.from({ length: 250 }, (_, i) => i));
    expect(sizes).toEqual([100, 100, 50]);
  });

  it("is written for any number of items, by a database without nested transactions", async () => {
    const { store, close } = await openTestStore(newSqlite);
    const put = createBatchWriter<number, number>({
      store,
      all: async (_tx, items) => items,
    });
    const numbers = Array.from({ length: 250 }, (_, i) => i);
    expect(await Promise.all(numbers.map((number) => put(number)))).toEqual(numbers);
    await close();
  });

  it("waits for the previous batch if items keep their order, also after a failure", async () => {
    const store = heldStore();
    const stored: number[][] = [];
    let failures = 1;
    const put = createBatchWriter<number, number>({
      store,
      inOrder: true,
      async all(_tx, items) {
        if (items.length > 1 && failures-- > 0) throw new Error("the batch failed");
        stored.push([...items]);
        return items;
      },
    });
    const results = Array.from({ length: 102 }, (_, i) => put(i));
    expect(store.begun).toHaveLength(1);
    await store.begun.shift()?.();
    const late = put(102);
    // Each item of the failed batch, and no later batch.
    await new Promise((resolve) => setImmediate(resolve));
    expect(store.begun).toHaveLength(100);
    await store.run();
    expect(await Promise.all([...results, late])).toEqual(Array.from({ length: 103 }, (_, i) => i));
    expect(stored.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, i) => [i]));
    expect(stored.slice(100)).toEqual([[100, 101, 102]]);
  });

  it("leaves items without room to the next batch, before later items", async () => {
    const store = heldStore();
    const batches: string[][] = [];
    const put = createBatchWriter<string, string>({
      store,
      async all(_tx, items) {
        batches.push([...items]);
        return items;
      },
      fits: (item, batch) => !batch.includes(item),
    });
    const results = ["a", "b", "a", "c", "a"].map((item) => put(item));
    await store.run();
    expect(await Promise.all(results)).toEqual(["a", "b", "a", "c", "a"]);
    expect(batches).toEqual([["a", "b", "c"], ["a"], ["a"]]);
  });

  it("retries each item alone while it may succeed, four times at most", async () => {
    const store = heldStore();
    let attempts = 0;
    const put = createBatchWriter<number, number>({
      store,
      async all(_tx, items) {
        attempts += 1;
        if (attempts < 4 || items.includes(2)) throw new Error("the row exists");
        return items;
      },
      canRetry: (error) => error instanceof Error && error.message === "the row exists",
    });
    const first = put(1);
    await store.run();
    expect(await first).toBe(1);
    attempts = 0;
    const second = put(2).catch(String);
    await store.run();
    expect(await second).toBe("Error: the row exists");
    // Once in its batch, four times alone.
    expect(attempts).toBe(5);
  });
});

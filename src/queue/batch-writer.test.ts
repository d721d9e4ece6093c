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

describe("what is stored together", () => {
  it("is everything that came before the transaction began, each with its own result", async () => {
    const store = heldStore();
    const groups: number[][] = [];
    const put = createBatchWriter<number, number>({
      store,
      async all(_tx, items) {
        groups.push([...items]);
        return items.map((item) => item * 10);
      },
      alone: async (_tx, item) => item * 10,
    });
    const results = [put(1), put(2), put(3)];
    await store.run();
    expect(await Promise.all(results)).toEqual([10, 20, 30]);
    const late = put(4);
    await store.run();
    expect(await late).toBe(40);
    expect(groups).toEqual([[1, 2, 3], [4]]);
  });

  it("fails for none but the one that cannot be stored", async () => {
    const store = heldStore();
    const put = createBatchWriter<number, number>({
      store,
      async all(_tx, items) {
        if (items.includes(2)) throw new Error("two is taken");
        return items;
      },
      async alone(_tx, item) {
        if (item === 2) throw new Error("two is taken");
        return item;
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

  it("fails for all of them when there is no transaction to be had", async () => {
    const put = createBatchWriter<number, number>({
      store: { write: () => Promise.reject(new Error("the database is away")) },
      all: async (_tx, items) => items,
      alone: async (_tx, item) => item,
    });
    const results = await Promise.allSettled([put(1), put(2)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("is as many as one transaction may take, and the rest in the next", async () => {
    const store = heldStore();
    const sizes: number[] = [];
    const put = createBatchWriter<number, number>({
      store,
      async all(_tx, items) {
        sizes.push(items.length);
        return items;
      },
      alone: async (_tx, item) => item,
    });
    const results = Array.from({ length: 250 }, (_, i) => put(i));
    await store.run();
    expect(await Promise.all(results)).toEqual(Array.from({ length: 250 }, (_, i) => i));
    expect(sizes).toEqual([100, 100, 50]);
  });

  it("is stored however much comes at once, in a database that lets no transaction begin inside another", async () => {
    const { store, close } = await openTestStore(newSqlite);
    const put = createBatchWriter<number, number>({
      store,
      all: async (_tx, items) => items,
      alone: async (_tx, item) => item,
    });
    const numbers = Array.from({ length: 250 }, (_, i) => i);
    expect(await Promise.all(numbers.map((number) => put(number)))).toEqual(numbers);
    await close();
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "#database/contract.ts";
import type { VectorCache } from "./cache.ts";
import { createVectorCache } from "./cache.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { silentLog, steppingClock } from "#test/support/knowledge/knowledge.ts";

const model = "test:model";
const encoderIn =
  (name: string): Parameters<typeof createVectorCache>[0]["encoderIn"] =>
  (row) =>
    row.model === name ? { model: name, dimensions: 2 } : undefined;

describe.each([
  ["in the event loop", Number.POSITIVE_INFINITY],
  ["in a thread of its own", 0],
])("vectors that are compared %s", (_, hereMax) => {
  let store: Store;
  let closeStore: () => Promise<void>;
  let cache: VectorCache;
  const clock = steppingClock();

  beforeEach(async () => {
    ({ store, close: closeStore } = await openTestStore(newSqlite));
    cache = createVectorCache({ store, encoderIn: encoderIn(model), clock, log: silentLog, hereMax });
    await store.write((tx) => tx.insertInto("vector_models").values({ workspace_id: "w", model, stamp: 0 }).execute());
  });
  afterEach(async () => {
    await cache.close();
    await closeStore();
  });

  /** The unit vector at this angle. */
  const at = (degrees: number): Float32Array =>
    Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));
  const bytes = (vector: Float32Array): Uint8Array => new Uint8Array(vector.buffer);

  async function put(vectors: Readonly<Record<string, Float32Array>>): Promise<void> {
    const rows = Object.entries(vectors).map(([id, vector]) => ({
      chunk_id: id,
      workspace_id: "w",
      model,
      digest: `digest ${id.slice(0, 2)}`,
      vector: bytes(vector),
    }));
    await store.write(async (tx) => {
      await tx.insertInto("chunk_vectors").values(rows).execute();
      await raise(tx);
    });
  }
  const raise = (tx: Parameters<Parameters<Store["write"]>[0]>[0]) =>
    tx
      .updateTable("vector_models")
      .set((eb) => ({ stamp: eb("stamp", "+", 1) }))
      .execute();
  const near = async (degrees: number, limit = 3): Promise<readonly string[]> =>
    (await cache.nearest("w", at(degrees), limit)).map(({ chunkId }) => chunkId);

  it("has room for new vectors after all were replaced several times", async () => {
    await cache.close();
    const small = { store, encoderIn: encoderIn(model), clock, log: silentLog, hereMax, numbersMax: 20_000 };
    cache = createVectorCache(small);
    for (let round = 0; round < 5; round += 1) {
      await store.write((tx) => tx.deleteFrom("chunk_vectors").execute());
      await put(Object.fromEntries(Array.from({ length: 2_500 }, (__, n) => [`${round} ${n}`, at(n * 0.1)])));
      clock.advance(10_000);
      await cache.prepare("w");
      expect(await near(0, 2_500)).toHaveLength(2_500);
    }
  });

  it("returns the nearest first, from several blocks", async () => {
    const angles = Array.from({ length: 2_500 }, (__, n) => [`c${String(n).padStart(4, "0")}`, at(n * 0.1)] as const);
    for (let start = 0; start < angles.length; start += 500)
      await put(Object.fromEntries(angles.slice(start, start + 500)));
    expect(await near(100.02)).toEqual(["c1000", "c1001", "c0999"]);
    const [best] = await cache.nearest("w", at(200), 1);
    expect(best?.chunkId).toBe("c2000");
    expect(best?.similarity).toBeCloseTo(1, 5);
  });

  it("adds new vectors and drops removed ones after a preparation", async () => {
    await put({ a: at(0), b: at(10), c: at(20) });
    expect(await near(0)).toEqual(["a", "b", "c"]);
    await put({ d: at(5) });
    await store.write(async (tx) => {
      await tx.deleteFrom("chunk_vectors").where("chunk_id", "=", "b").execute();
      await raise(tx);
    });
    // Cached vectors are used for a while.
    expect(await near(0)).toEqual(["a", "b", "c"]);
    await cache.prepare("w");
    expect(await near(0)).toEqual(["a", "d", "c"]);
    await put({ e: at(1) });
    clock.advance(10_000);
    expect(await near(0)).toEqual(["a", "e", "d"]);
  });

  it("ignores vectors of another length or model", async () => {
    await put({ a: at(0), none: new Float32Array(0), long: Float32Array.of(1, 0, 0) });
    await cache.prepare("w");
    expect(await near(0)).toEqual(["a"]);
    expect((await cache.nearest("w", Float32Array.of(1, 0, 0), 3)).map(({ chunkId }) => chunkId)).toEqual(["long"]);
    const other = createVectorCache({ store, encoderIn: encoderIn("test:other"), clock, log: silentLog, hereMax });
    expect(await other.nearest("w", at(0), 3)).toEqual([]);
    await other.close();
  });

  it("compares no more than fits into memory", async () => {
    const few = createVectorCache({
      store,
      encoderIn: encoderIn(model),
      clock,
      log: silentLog,
      hereMax,
      numbersMax: 2_000,
    });
    const angles = Array.from({ length: 1_500 }, (__, n) => [`c${String(n).padStart(4, "0")}`, at(n * 0.1)] as const);
    for (let start = 0; start < angles.length; start += 500)
      await put(Object.fromEntries(angles.slice(start, start + 500)));
    expect(await few.nearest("w", at(0), 1_500)).toHaveLength(200);
    await few.close();
  });

  it("takes a passage by its heading and its nearest sentence together", async () => {
    const parts = createVectorCache({
      store,
      encoderIn: encoderIn(model),
      clock,
      log: silentLog,
      hereMax,
      vectorsIn: (stored) => {
        const numbers = new Float32Array(stored.slice().buffer);
        return Array.from({ length: numbers.length / 2 }, (__, n) => numbers.slice(n * 2, n * 2 + 2));
      },
    });
    const passage = (...degrees: readonly number[]): Float32Array =>
      Float32Array.from(degrees.flatMap((each) => [...at(each)]));
    // Only the sentence is near, the heading and a sentence are, only the heading is, and there is no sentence.
    await put({ a: passage(90, 0, 80), b: passage(20, 90, 30), c: passage(0, 90), d: passage(40) });
    const found = await parts.nearest("w", at(0), 4);
    expect(found.map(({ chunkId }) => chunkId)).toEqual(["b", "d", "a", "c"]);
    const cos = (degrees: number): number => Math.cos((degrees * Math.PI) / 180);
    expect(found[0]?.similarity).toBeCloseTo((cos(20) + cos(30)) / 2, 5);
    expect(found[1]?.similarity).toBeCloseTo(cos(40), 5);
    await parts.close();
  });
});

import { describe, expect, it } from "vitest";
import type { RateLimitStore } from "./rate-limit-store.ts";
import { heartbeatsBeside } from "#database/clock-skew.ts";
import { createRateLimitStore } from "./rate-limit-store.ts";
import { openStore } from "#database/open.ts";
import { createProcessWatch } from "#database/process-heartbeat.ts";
import type { Store } from "#database/contract.ts";
import { testStart } from "#test/support/http/app.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

const clock = createHandMovedClock(testStart);

function countingOf(store: Store, processId: string, watch = createProcessWatch()) {
  const log = { warn: () => undefined };
  return createRateLimitStore({ store, clock, log, processId, watch, inFlightMax: 3 });
}

eachDatabase("counting of concurrent requests", (open) => {
  const counters = (key: string, window = 1_000) => [
    { name: `day:${key}`, windowStart: 0 },
    { name: `minute:${key}`, windowStart: window },
  ];

  it("admits exactly as many requests as each limit allows, in order of arrival, from several processes", async () => {
    const { store, url, close } = await openTestStore(open);
    const other = await openStore(url);
    const [one, two] = [countingOf(store, "one"), countingOf(other, "two")];
    const asked = Array.from({ length: 120 }, (_, i) => ({
      key: ["a", "b", "c"][i % 3] ?? "",
      counting: i % 2 === 0 ? one : two,
    }));
    const limits: Readonly<Record<string, readonly [number, number]>> = { a: [10, 100], b: [100, 7], c: [100, 100] };
    const taken = await Promise.all(
      asked.map(async ({ key, counting }) => ({ key, ...(await counting.take(counters(key), limits[key] ?? [])) })),
    );
    const through = (key: string) => taken.filter((each) => each.key === key && each.taken);
    expect(["a", "b", "c"].map((key) => through(key).length)).toEqual([10, 7, 40]);
    // Each saw a different number.
    expect(
      through("c")
        .map(({ values }) => values[0] ?? 0)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    // Refused requests get the value that they would have had, and are not counted.
    expect(taken.filter((each) => each.key === "a" && !each.taken).map(({ values }) => values)).toEqual(
      Array.from({ length: 30 }, () => [11, 11]),
    );
    const rows = await store.read.selectFrom("counters").select(["name", "value"]).orderBy("name").execute();
    expect(rows).toEqual([
      { name: "day:a", value: 10 },
      { name: "day:b", value: 7 },
      { name: "day:c", value: 40 },
      { name: "minute:a", value: 10 },
      { name: "minute:b", value: 7 },
      { name: "minute:c", value: 40 },
    ]);
    await other.close();
    await close();
  });

  it("starts every window at zero, and deletes the previous window", async () => {
    const { store, close } = await openTestStore(open);
    const counting = countingOf(store, "one");
    await Promise.all([1, 2, 3].map(() => counting.take(counters("a", 1_000), [9, 9])));
    const next = await Promise.all([counting.take(counters("a", 2_000), [9, 9]), counting.take(counters("b"), [9, 9])]);
    expect(next.map(({ values }) => values)).toEqual([
      [4, 1],
      [1, 1],
    ]);
    const rows = await store.read
      .selectFrom("counters")
      .select(["window_start", "value"])
      .where("name", "=", "minute:a")
      .execute();
    expect(rows).toEqual([{ window_start: 2_000, value: 1 }]);
    await close();
  });

  describe("requests of one key in flight at several processes", () => {
    async function openTwo() {
      const { store, url, close } = await openTestStore(open);
      const other = await openStore(url);
      const row = (id: string) => ({ id, host: id, pid: 1, started_at: testStart, heartbeat_at: clock.now() });
      await store.write((tx) =>
        tx
          .insertInto("processes")
          .values([row("one"), row("two")])
          .execute(),
      );
      let minute = 0;
      const begin = async (counting: RateLimitStore, key: string) => {
        const leave = counting.enter(key);
        if (leave === null) return null;
        minute += 1;
        const { taken, crowded } = await counting.take(counters(key, minute), [1_000, 1_000], key);
        if (!taken) leave();
        expect(crowded).toBe(!taken);
        return taken ? leave : null;
      };
      const closeBoth = async () => {
        await other.close();
        await close();
      };
      const watch = createProcessWatch();
      const one = countingOf(store, "one", watch);
      const look = async () => watch.look(await heartbeatsBeside(store, "one"));
      return { store, one, two: countingOf(other, "two"), look, begin, close: closeBoth };
    }
    const storedCounts = (store: Store) =>
      store.read
        .selectFrom("requests_in_flight")
        .select(["key_id", "process_id", "count"])
        .orderBy("key_id")
        .orderBy("process_id")
        .execute();

    it("are limited over all processes, even when they arrive at the same time", async () => {
      const { store, one, two, begin, close } = await openTwo();
      const began = await Promise.all(
        Array.from({ length: 24 }, (_, i) => begin(i % 4 < 2 ? one : two, i % 2 === 0 ? "a" : "b")),
      );
      for (const parity of [0, 1]) {
        expect(began.filter((leave, i) => i % 2 === parity && leave !== null)).toHaveLength(3);
      }
      for (const leave of began) leave?.();
      // Ended requests are reported without a further request.
      await expect.poll(() => storedCounts(store)).toEqual([]);
      const again = await Promise.all([begin(two, "a"), begin(two, "a"), begin(two, "a")]);
      expect(again).not.toContain(null);
      expect(await begin(one, "a")).toBeNull();
      again[0]?.();
      await expect.poll(() => begin(one, "a")).not.toBeNull();
      expect(await begin(one, "a")).toBeNull();
      await close();
    });

    it("are not counted for a process that has stopped its heartbeats", async () => {
      const { one, two, look, begin, close } = await openTwo();
      for (let i = 0; i < 3; i += 1) expect(await begin(two, "a")).not.toBeNull();
      for (let looks = 0; looks < 4; looks += 1) await look();
      expect(await begin(one, "a")).toBeNull();
      await look();
      expect(await begin(one, "a")).not.toBeNull();
      await close();
    });

    it("are counted for a process whose clock is slow", async () => {
      const { store, one, two, look, begin, close } = await openTwo();
      for (let i = 0; i < 3; i += 1) expect(await begin(two, "a")).not.toBeNull();
      const writtenAt = (at: number) =>
        store.write((tx) => tx.updateTable("processes").set({ heartbeat_at: at }).where("id", "=", "two").execute());
      for (let beat = 0; beat < 10; beat += 1) {
        await writtenAt(clock.now() - 3_600_000 + beat);
        await look();
      }
      expect(await begin(one, "a")).toBeNull();
      // It missed several heartbeats, and runs again before the others check.
      for (let looks = 0; looks < 5; looks += 1) await look();
      await writtenAt(clock.now() - 3_500_000);
      expect(await begin(one, "a")).toBeNull();
      await close();
    });

    it("are not written while only one process runs, and are shared when a second one starts", async () => {
      const { store, one, two, begin, close } = await openTwo();
      await store.write((tx) => tx.deleteFrom("processes").where("id", "=", "two").execute());
      await begin(one, "a");
      await begin(one, "a");
      expect(await storedCounts(store)).toEqual([]);
      const row = { id: "two", host: "two", pid: 1, started_at: testStart, heartbeat_at: clock.now() };
      await store.write((tx) => tx.insertInto("processes").values(row).execute());
      await begin(one, "b");
      expect(await storedCounts(store)).toEqual([
        { key_id: "a", process_id: "one", count: 2 },
        { key_id: "b", process_id: "one", count: 1 },
      ]);
      expect(await begin(two, "a")).not.toBeNull();
      expect(await begin(two, "a")).toBeNull();
      await close();
    });
  });
});

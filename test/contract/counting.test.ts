import { expect, it } from "vitest";
import { createCounting } from "#store/counting.ts";
import { openStore } from "#store/open.ts";
import { eachDatabase, openTestStore } from "../support/databases.ts";

eachDatabase("counting what comes together", (open) => {
  const counters = (key: string, window = 1_000) => [
    { name: `day:${key}`, windowStart: 0 },
    { name: `minute:${key}`, windowStart: window },
  ];

  it("lets exactly as many through as each limit says, in the order in which they came, from several processes", async () => {
    const { store, url, close } = await openTestStore(open);
    const other = await openStore(url);
    const [one, two] = [createCounting(store), createCounting(other)];
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
    // Each of them saw a number of its own.
    expect(
      through("c")
        .map(({ values }) => values[0] ?? 0)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    // Those that were refused are told what they would have been, and are not counted.
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

  it("begins every window at nothing, and clears the window before it away", async () => {
    const { store, close } = await openTestStore(open);
    const counting = createCounting(store);
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
});

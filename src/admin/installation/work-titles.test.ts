import { expect, it } from "vitest";
import { newSqlite } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";
import { workTitle } from "./work-titles.ts";

it("says what was not done for every kind of work of the program", async () => {
  const bench = await openBench(newSqlite);
  const { known } = bench.app.works;
  await bench.close();
  expect(known.length).toBeGreaterThan(30);
  const titles = known.map(workTitle);
  expect(titles.filter((title) => title.startsWith("Work of the kind"))).toEqual([]);
  expect(new Set(titles).size).toBe(known.length);
  expect(workTitle("unheard-of")).toBe("Work of the kind unheard-of was not done");
});

import { afterAll, beforeAll, expect, it } from "vitest";
import type { KyselyPlugin } from "kysely";
import { dayOfDate } from "#domain/reporting/local-time.ts";
import type { Grouping } from "#domain/reporting/metrics.ts";
import { groupings, metricsBy } from "#domain/reporting/metrics.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { seedReports, storeCells } from "#test/support/database/report-rows.ts";
import type { TestDatabase } from "#test/support/database/new-database.ts";
import { compareMonth } from "./compare.ts";
import { namesMax } from "./counts.ts";
import { readReport } from "./report.ts";

const agents = Array.from({ length: 30 }, (_, i) => `agent${i}@shop.example`);
const dayOf = (date: string): number => dayOfDate(date) ?? Number.NaN;

eachDatabase("the counts of reports", (open) => {
  const workspaceId = "wt_counts_aaaaaaaaaaaa";
  const year = { from: "2030-01-01", to: "2030-12-31" };
  let database: TestDatabase;
  let store: OpenStore;
  beforeAll(async () => {
    database = await open();
    store = await openStore(database.url);
    await store.migrate();
    await seedReports(store, workspaceId, { ...year, conversationsADay: 2_740, agents });
  }, 120_000);
  afterAll(async () => {
    await store.close();
    await database.remove();
  });

  async function cost(by: Grouping, from: string, to: string) {
    let [statements, rows] = [0, 0];
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        statements += 1;
        rows += result.rows.length;
        return result;
      },
    };
    const days = { from: dayOf(from), to: dayOf(to) };
    const report = await readReport(store.read.withPlugin(counter), { workspaceId, days, by, metrics: metricsBy[by] });
    return { statements, rows, report };
  }

  it("are read by few statements and rows for a year of a million conversations", async () => {
    for (const by of groupings) {
      const { statements, rows } = await cost(by, year.from, year.to);
      expect([by, statements], by).toEqual([by, by === "agent" || by === "team" ? 2 : 1]);
      expect(rows, by).toBeLessThanOrEqual({ day: 365 * 4, hour_of_week: 12 * 168 }[by as string] ?? 12 * 34);
    }
  });

  it("are the same by months as by days", async () => {
    for (const by of ["hour_of_week", "channel", "agent", "tag"] as const) {
      const { report } = await cost(by, "2030-02-11", "2030-07-20");
      const halves = await Promise.all([cost(by, "2030-02-11", "2030-04-17"), cost(by, "2030-04-18", "2030-07-20")]);
      for (const row of report.rows) {
        const sum = halves.map(
          ({ report: half }) => half.rows.find(({ key }) => key === row.key)?.values.resolved ?? 0,
        );
        expect(row.values.resolved, row.key).toBe(sum.reduce((all, value) => all + value, 0));
      }
    }
  });

  it("keep one row a day and a month for the tags above the limit, and lose none", async () => {
    const days = [dayOf("2031-01-01"), dayOf("2031-01-02")];
    for (const day of days) {
      const tags = Array.from({ length: namesMax + 200 }, (_, i) => `random ${day} ${i}`);
      for (const some of [tags.slice(0, 300), tags.slice(200), tags.slice(-1)]) {
        const cells = some.map((name) => ({ dimension: "tag", day, name, metric: "conversations", value: 2 }) as const);
        await store.write((tx) => storeCells(tx, workspaceId, cells));
      }
    }
    const rows = await store.read
      .selectFrom("report_counts")
      .select(["period", "day", (eb) => eb.fn.countAll<number | string>().as("rows")])
      .where("day", ">=", dayOf("2031-01-01"))
      .where("dimension", "=", "tag")
      .groupBy(["period", "day"])
      .execute();
    expect(rows.map((row) => Number(row.rows))).toEqual([namesMax + 1, namesMax + 1, namesMax + 1]);
    const total = 2 * 2 * (namesMax + 200 + 100 + 1);
    for (const to of ["2031-01-31", "2031-01-30"]) {
      const { report } = await cost("tag", "2031-01-01", to);
      expect(report.rows[0]).toMatchObject({ key: "", name: "Others" });
      expect(report.rows).toHaveLength(200);
    }
    const sums = await store.read
      .selectFrom("report_counts")
      .select(["period", "counts"])
      .where("day", ">=", dayOf("2031-01-01"))
      .where("dimension", "=", "tag")
      .execute();
    for (const [, of] of Map.groupBy(sums, ({ period }) => period)) {
      const values = of.map(({ counts }) => (JSON.parse(counts) as { readonly conversations: number }).conversations);
      expect(values.reduce((all, value) => all + value, 0)).toBe(total);
    }
    expect(await compareMonth(store.read, workspaceId, dayOf("2031-01-01"))).toEqual([]);
  });
});

import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { metrics } from "#domain/reporting/metrics.ts";
import { tableIn } from "#test/support/markdown-table.ts";
import { definitions, percentile, place, precision } from "./definitions.ts";
import { numbers } from "./numbers.ts";

const manual = await readFile(new URL("../../../../../docs/reports.md", import.meta.url), "utf8");

it("are those of the manual", () => {
  const rows = tableIn(manual, "Metric")?.rows ?? [];
  const described = rows.flatMap(([names = "", text = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, metric = ""]) => [metric, text.replaceAll("`", "")] as const),
  );
  const withoutGeneral = metrics.map((metric) => [
    metric,
    definitions[metric].replace(` ${precision}`, "").replace(` ${percentile}`, ""),
  ]);
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(withoutGeneral));
  for (const general of [percentile, place]) expect(manual.toLowerCase()).toContain(general.toLowerCase().slice(0, -1));
  expect(manual).toContain("Medians and percentiles are exact to 5 percent");
});

it("are shown in their words for each number of the page", () => {
  const known = Object.values(definitions);
  for (const { label, about } of Object.values(numbers)) {
    expect([label, known.some((definition) => about.startsWith(definition))]).toEqual([label, true]);
  }
});

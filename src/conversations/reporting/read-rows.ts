import { sql } from "kysely";
import type { Dimension } from "#domain/reporting/cells.ts";
import type { Days, Period } from "#domain/reporting/periods.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { cellsOf } from "./changes.ts";
import type { Counts } from "./counts.ts";
import { countsOf } from "./counts.ts";

type ReadPeriod = Period | "deleted";

interface RowQuery {
  readonly workspaceId: string;
  readonly days: Days;
  /** The same days, divided into rows. */
  readonly parts: readonly (Days & { readonly period: ReadPeriod })[];
  readonly dimensions: readonly Dimension[];
}

interface ReportRows {
  readonly period: ReadPeriod;
  /** An increment that is not added to the counts of its day and month yet. */
  readonly isPending: boolean;
  readonly dimension: Dimension;
  readonly day: number;
  readonly name: string;
  readonly counts: Counts;
}

/**
 * Reads the counts of the days, and the increments that are not added to them yet. One statement reads both, since
 * increments move from one table to the other at any time.
 */
export async function readRows(
  db: Reader | Tx,
  { workspaceId, days, parts, dimensions }: RowQuery,
): Promise<readonly ReportRows[]> {
  const pending = db
    .selectFrom("report_changes")
    .select([
      sql<string>`''`.as("dimension"),
      sql<string>`''`.as("period"),
      "deleted as day",
      sql<string>`''`.as("name"),
      "changes as counts",
    ])
    .where("workspace_id", "=", workspaceId);
  const counts = [...new Set(dimensions)].flatMap((dimension) =>
    parts.map(({ period, from, to }) =>
      db
        .selectFrom("report_counts")
        .select(["dimension", "period", "day", "name", "counts"])
        .where("workspace_id", "=", workspaceId)
        .where("dimension", "=", dimension)
        .where("period", "=", period)
        .where("day", ">=", from)
        .where("day", "<=", to),
    ),
  );
  const all = counts.reduce((query, some) => query.unionAll(some), pending);
  const wanted = new Set<string>(dimensions);
  const withDeleted = parts.some(({ period }) => period === "deleted");
  return (await all.execute()).flatMap((row): readonly ReportRows[] => {
    if (row.dimension !== "") {
      const [dimension, period] = [row.dimension as Dimension, row.period as ReadPeriod];
      return [{ dimension, period, isPending: false, day: row.day, name: row.name, counts: countsOf(row) }];
    }
    const period = row.day === 1 ? "deleted" : "day";
    if (period === "deleted" && !withDeleted) return [];
    return cellsOf({ changes: row.counts })
      .filter(({ dimension, day }) => wanted.has(dimension) && day >= days.from && day <= days.to)
      .map(({ dimension, day, name, metric, value }) => ({
        period,
        isPending: true,
        dimension,
        day,
        name,
        counts: { [metric]: value },
      }));
  });
}

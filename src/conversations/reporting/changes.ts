import type { Insertable } from "kysely";
import type { Cell, CellSums, Dimension } from "#domain/reporting/cells.ts";
import { createCellSums } from "#domain/reporting/cells.ts";
import type { Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { ReportChangesTable } from "#database/schema/reports.ts";
import { addToCounts } from "./counts.ts";

// A transaction that changes conversations stores its increments in a row of its own. The counts themselves are rows that
// all transactions of a day would lock, and that only one transaction at a time could write.

type StoredCell = readonly [dimension: Dimension, day: number, name: string, metric: string, value: number];

/** The rows for the increments, by workspace. `ofDeleted`: they were counted before, and their conversations are deleted. */
export function changeRows(
  sums: ReadonlyMap<string, CellSums>,
  ofDeleted = false,
): readonly Insertable<ReportChangesTable>[] {
  return [...sums].flatMap(([workspaceId, of]) => {
    const cells = of
      .list()
      .map(({ dimension, day, name, metric, value }): StoredCell => [dimension, day, name, metric, value]);
    return cells.length === 0
      ? []
      : [{ workspace_id: workspaceId, changes: JSON.stringify(cells), deleted: ofDeleted ? 1 : 0 }];
  });
}

export function cellsOf({
  changes,
}: Pick<ReportChangesTable, "changes">): readonly (Cell & { readonly value: number })[] {
  return (JSON.parse(changes) as readonly StoredCell[]).map(([dimension, day, name, metric, value]) => ({
    dimension,
    day,
    name,
    metric,
    value,
  }));
}

const rowsAtOnce = 1_000;

/** Adds the stored increments to the counts. Several processes may do it at the same time. */
export async function foldChanges(store: Store): Promise<void> {
  for (;;) if ((await store.write(foldSome)) < rowsAtOnce) return;
}

/** Returns the number of rows that it has folded. */
async function foldSome(tx: Tx): Promise<number> {
  const query = tx.selectFrom("report_changes").selectAll().orderBy("id").limit(rowsAtOnce);
  const rows = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).execute();
  if (rows.length === 0) return 0;
  for (const [workspaceId, of] of Map.groupBy(rows, (row) => row.workspace_id)) {
    // Deleted conversations come last: they take the names of the rows that counted them.
    for (const deleted of [0, 1]) {
      const sums = createCellSums();
      for (const row of of) {
        if (row.deleted === deleted) for (const cell of cellsOf(row)) sums.add(cell, cell.value);
      }
      await addToCounts(tx, workspaceId, sums, deleted === 1);
    }
  }
  const ids = rows.map(({ id }) => id);
  await tx.deleteFrom("report_changes").where("id", "in", ids).execute();
  return rows.length;
}

import type { Cell, CellSums, Dimension } from "#domain/reporting/cells.ts";
import { monthCell } from "#domain/reporting/periods.ts";
import type { Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";

/**
 * Names of a dimension that get rows of their own on a day, and in a month: the first ones. Clients of the API choose
 * tags, and could fill the table with them.
 */
export const namesMax = 500;

/** The name of the row that has the counts of all further names. */
export const otherNames = "";

export type CountedCell = Cell & { readonly value: number };

/** A row's counts by metric. */
export type Counts = Record<string, number>;

export const countsOf = (row: { readonly counts: string }): Counts => JSON.parse(row.counts) as Counts;

interface Place {
  readonly workspaceId: string;
  readonly dimension: Dimension;
  readonly period: "day" | "month" | "deleted";
}

const rowsAtOnce = 200;

/** Adds to the counts of days and months, or to the part of days whose conversations are deleted. */
export async function addToCounts(tx: Tx, workspaceId: string, sums: CellSums, ofDeleted: boolean): Promise<void> {
  for (const [dimension, cells] of Map.groupBy(sums.list(), (cell) => cell.dimension)) {
    const place = { workspaceId, dimension };
    if (ofDeleted) await addTo(tx, { ...place, period: "deleted" }, cells);
    else {
      await addTo(tx, { ...place, period: "day" }, cells);
      await addTo(tx, { ...place, period: "month" }, cells.map(monthCell));
    }
  }
}

/** Adds cells of months to the counts of months alone. */
export async function addToMonth(tx: Tx, workspaceId: string, sums: CellSums): Promise<void> {
  for (const [dimension, cells] of Map.groupBy(sums.list(), (cell) => cell.dimension)) {
    await addTo(tx, { workspaceId, dimension, period: "month" }, cells);
  }
}

const rowKey = (day: number, name: string): string => `${day} ${name}`;

async function addTo(tx: Tx, place: Place, cells: readonly CountedCell[]): Promise<void> {
  const rows = await readRows(tx, place, cells);
  const ownName = await namesOf(tx, place, cells, new Set(rows.keys()));
  const changed = new Map<string, { readonly day: number; readonly name: string; readonly counts: Counts }>();
  for (const { day, name: given, metric, value } of cells) {
    const name = ownName(day, given);
    const key = rowKey(day, name);
    let row = changed.get(key);
    if (row === undefined) changed.set(key, (row = { day, name, counts: rows.get(key) ?? {} }));
    const sum = (row.counts[metric] ?? 0) + value;
    if (sum === 0) delete row.counts[metric];
    else row.counts[metric] = sum;
  }
  const { workspaceId: workspace_id, dimension, period } = place;
  const written = [...changed.values()].map(({ day, name, counts }) => ({
    workspace_id,
    dimension,
    period,
    day,
    name,
    counts: JSON.stringify(counts),
  }));
  const keys = ["workspace_id", "dimension", "period", "day", "name"] as const;
  for (let at = 0; at < written.length; at += rowsAtOnce) {
    await insertRows(tx, "report_counts", written.slice(at, at + rowsAtOnce), { keys, replace: ["counts"] });
  }
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** The stored counts of these days and names, by row. Rows of other pairs of them may be included. */
async function readRows(
  tx: Tx,
  { workspaceId, dimension, period }: Place,
  cells: readonly CountedCell[],
): Promise<ReadonlyMap<string, Counts>> {
  const query = tx
    .selectFrom("report_counts")
    .select(["day", "name", "counts"])
    .where("workspace_id", "=", workspaceId)
    .where("dimension", "=", dimension)
    .where("period", "=", period)
    .where("day", "in", distinct(cells.map(({ day }) => day)))
    .where("name", "in", [...distinct(cells.map(({ name }) => name)), otherNames]);
  const rows = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).execute();
  return new Map(rows.map((row) => [rowKey(row.day, row.name), countsOf(row)]));
}

type OwnName = (day: number, name: string) => string;

/** Gives new names a row of their own while there is room. Deleted conversations keep the names that counted them. */
async function namesOf(
  tx: Tx,
  { workspaceId, dimension, period }: Place,
  cells: readonly CountedCell[],
  known: Set<string>,
): Promise<OwnName> {
  const isKnown = ({ day, name }: Cell): boolean => known.has(rowKey(day, name));
  if (cells.every(isKnown)) return (_, name) => name;
  const days = distinct(cells.filter((cell) => !isKnown(cell)).map(({ day }) => day));
  const rows = tx
    .selectFrom("report_counts")
    .where("workspace_id", "=", workspaceId)
    .where("dimension", "=", dimension)
    .where("day", "in", days)
    .where("name", "!=", otherNames);
  if (period === "deleted") {
    const names = distinct(cells.map(({ name }) => name));
    const counted = await rows.select(["day", "name"]).where("period", "=", "day").where("name", "in", names).execute();
    const own = new Set(counted.map(({ day, name }) => rowKey(day, name)));
    return (day, name) => (own.has(rowKey(day, name)) || known.has(rowKey(day, name)) ? name : otherNames);
  }
  const numbers = await rows
    .select(["day", (eb) => eb.fn.countAll<number | string>().as("names")])
    .where("period", "=", period)
    .groupBy("day")
    .execute();
  const taken = new Map(numbers.map(({ day, names }) => [day, Number(names)]));
  return (day, name) => {
    const key = rowKey(day, name);
    if (known.has(key)) return name;
    const before = taken.get(day) ?? 0;
    if (before >= namesMax) return otherNames;
    taken.set(day, before + 1);
    known.add(key);
    return name;
  };
}

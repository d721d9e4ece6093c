import type { Cell } from "#domain/reporting/cells.ts";
import { dimensions } from "#domain/reporting/cells.ts";
import type { Days } from "#domain/reporting/periods.ts";
import { monthCell, monthOf } from "#domain/reporting/periods.ts";
import type { Reader, Tx } from "#database/contract.ts";
import type { CountedCell } from "./counts.ts";
import { namesMax, otherNames } from "./counts.ts";
import { readRows } from "./read-rows.ts";
import { recountStored } from "./recount.ts";

/** A count that differs from what it should be. */
export type Difference = Cell & { readonly stored: number; readonly recounted: number };

/** Counts by cell. */
interface Tally {
  add(cell: Cell, value: number): void;
  readonly cells: ReadonlyMap<string, CountedCell>;
}

const keyOf = ({ dimension, day, name, metric }: Cell): string => `${dimension}\n${day}\n${name}\n${metric}`;

function createTally(): Tally {
  const cells = new Map<string, Cell & { value: number }>();
  return {
    cells,
    add({ dimension, day, name, metric }, value) {
      const key = keyOf({ dimension, day, name, metric });
      const cell = cells.get(key);
      if (cell === undefined) cells.set(key, { dimension, day, name, metric, value });
      else cell.value += value;
    },
  };
}

/** The names that have rows of their own, and whether a new one would get one. */
interface Names {
  add(row: Pick<Cell, "dimension" | "day" | "name">): void;
  placed(cell: Cell): Cell;
}

function createNames(): Names {
  const names = new Map<string, Set<string>>();
  const placeOf = ({ dimension, day }: Pick<Cell, "dimension" | "day">): string => `${dimension}\n${day}`;
  return {
    add(row) {
      if (row.name === otherNames) return;
      const place = placeOf(row);
      const known = names.get(place);
      if (known === undefined) names.set(place, new Set([row.name]));
      else known.add(row.name);
    },
    placed(cell) {
      const known = names.get(placeOf(cell));
      return known === undefined || known.size < namesMax || known.has(cell.name)
        ? cell
        : { ...cell, name: otherNames };
    },
  };
}

interface StoredDays {
  readonly counted: readonly CountedCell[];
  /** Those among them whose conversations are deleted. */
  readonly deleted: readonly CountedCell[];
  readonly names: Names;
}

async function readDays(db: Reader | Tx, workspaceId: string, days: Days): Promise<StoredDays> {
  const [counted, deleted, names] = [createTally(), createTally(), createNames()];
  const parts = [
    { period: "day", ...days },
    { period: "deleted", ...days },
  ] as const;
  for (const row of await readRows(db, { workspaceId, days, parts, dimensions })) {
    if (row.period === "day" && !row.isPending) names.add(row);
    const to = row.period === "deleted" ? deleted : counted;
    for (const [metric, value] of Object.entries(row.counts)) to.add({ ...row, metric }, value);
  }
  return { counted: [...counted.cells.values()], deleted: [...deleted.cells.values()], names };
}

/** The counts that were made as the conversations changed. */
export async function storedCells(db: Reader, workspaceId: string, days: Days): Promise<readonly CountedCell[]> {
  const { counted } = await readDays(db, workspaceId, days);
  return counted.filter(({ value }) => value !== 0);
}

function differencesOf(stored: Tally, recounted: Tally): readonly Difference[] {
  const keys = new Set([...stored.cells.keys(), ...recounted.cells.keys()]);
  return [...keys].toSorted().flatMap((key): readonly Difference[] => {
    const [before, after] = [stored.cells.get(key), recounted.cells.get(key)];
    const cell = before ?? after;
    if (cell === undefined || (before?.value ?? 0) === (after?.value ?? 0)) return [];
    const { dimension, day, name, metric } = cell;
    return [{ dimension, day, name, metric, stored: before?.value ?? 0, recounted: after?.value ?? 0 }];
  });
}

/** The state of a day's counts, to see whether they have changed. */
function statesOf({ counted, deleted }: StoredDays): ReadonlyMap<number, string> {
  const lines = [...counted, ...deleted.map((cell) => ({ ...cell, deleted: true }))].map((cell) => ({
    day: cell.day,
    line: JSON.stringify(cell),
  }));
  const byDay = Map.groupBy(lines, ({ day }) => day);
  return new Map(
    [...byDay].map(([day, of]) => [
      day,
      of
        .map(({ line }) => line)
        .toSorted()
        .join("\n"),
    ]),
  );
}

export async function stateOfDay(db: Reader | Tx, workspaceId: string, day: number): Promise<string> {
  return statesOf(await readDays(db, workspaceId, { from: day, to: day })).get(day) ?? "";
}

export interface ComparedDays {
  readonly differences: readonly Difference[];
  /** Days whose counts changed meanwhile, so that nothing can be said about them. */
  readonly changing: ReadonlySet<number>;
  stateOf(day: number): string;
}

/**
 * Compares the counts of days with a recount of the conversations, and of what deleted conversations left. The result
 * is exact for days whose counts stay the same meanwhile, since each change of a conversation changes them with it.
 */
export async function compareDays(
  db: Reader,
  workspaceId: string,
  days: Days,
  progress?: (conversations: number) => void,
): Promise<ComparedDays> {
  const before = statesOf(await readDays(db, workspaceId, days));
  const again = await recountStored(db, workspaceId, days, { progress });
  const after = await readDays(db, workspaceId, days);
  const states = statesOf(after);
  const [stored, recounted] = [createTally(), createTally()];
  for (const cell of after.counted) stored.add(after.names.placed(cell), cell.value);
  for (const cell of [...again.list(), ...after.deleted]) {
    if (cell.day >= days.from && cell.day <= days.to) recounted.add(after.names.placed(cell), cell.value);
  }
  const changing = [...new Set([...before.keys(), ...states.keys()])].filter(
    (day) => before.get(day) !== states.get(day),
  );
  return {
    differences: differencesOf(stored, recounted),
    changing: new Set(changing),
    stateOf: (day) => states.get(day) ?? "",
  };
}

/** Compares the counts of a month with those of its days. Increments that are added to neither yet do not matter. */
export async function compareMonth(
  db: Reader | Tx,
  workspaceId: string,
  month: number,
): Promise<readonly Difference[]> {
  const days = { from: month, to: monthOf(month, 1) - 1 };
  const parts = [
    { period: "day", ...days },
    { period: "month", ...days },
  ] as const;
  const rows = await readRows(db, { workspaceId, days, parts, dimensions });
  const [stored, ofDays, names] = [createTally(), createTally(), createNames()];
  for (const row of rows) if (row.period === "month") names.add(row);
  for (const { period, isPending, counts, ...row } of rows) {
    if (isPending) continue;
    for (const [metric, value] of Object.entries(counts)) {
      if (period === "month") stored.add({ ...row, metric }, value);
      else ofDays.add(names.placed(monthCell({ ...row, metric })), value);
    }
  }
  return differencesOf(stored, ofDays);
}

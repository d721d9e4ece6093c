import type { Band } from "./bands.ts";
import type { Cell } from "./lines.ts";

export interface Column {
  left: number;
  right: number;
}

/** The cell of each column, without those that are empty. */
export type Placed = ReadonlyMap<Column, Cell>;

/** Edges of one column differ by less, in heights of the letters. */
const sameEdge = 0.3;
/** Texts of one column are at most this far apart, in heights of the letters. */
const withinCell = 1.2;
/** The end of a word is estimated from the number of its letters; it is wrong by less, in heights of the letters. */
const estimateError = 1;

/**
 * Places the cells of a band below the columns, and widens these. A cell beside all of them begins a column. Undefined if
 * a cell is below several, or columns have several.
 */
export function place(columns: Column[], band: Band, isRowLikely: boolean): Placed | undefined {
  const placed = new Map<Column, Cell>();
  const added: Column[] = [];
  for (const cell of band.cells.flatMap((each) => dividedAt(columns, each, band, isRowLikely))) {
    const column = columnOf(columns, cell, band) ?? addTo(added, cell);
    if (column === "several") return undefined;
    const before = placed.get(column);
    if (before !== undefined && cell.left - before.right > band.size * withinCell) return undefined;
    placed.set(column, before === undefined ? cell : joinedCells(before, cell));
  }
  // One text beside all columns is no row.
  if (added.length > 0 && placed.size < 2) return undefined;
  columns.push(...added);
  columns.sort((a, b) => a.left - b.left);
  for (const [column, { left, right }] of placed) {
    const at = columns.indexOf(column);
    column.left = Math.max(Math.min(column.left, left), columns[at - 1]?.right ?? left);
    column.right = Math.min(Math.max(column.right, right), columns[at + 1]?.left ?? right);
  }
  return placed;
}

function addTo(added: Column[], { left, right }: Cell): Column {
  const column = { left, right };
  added.push(column);
  return column;
}

export const joinedCells = (first: Cell, second: Cell): Cell => ({
  ...first,
  text: `${first.text} ${second.text}`,
  right: Math.max(first.right, second.right),
});

const below = (columns: readonly Column[], { left, right }: Cell): readonly Column[] =>
  columns.filter((column) => left < column.right && right > column.left);

/** Long cells of neighbouring columns, on different lines, may overlap: then the edge tells the column. */
function columnOf(columns: readonly Column[], cell: Cell, { size, cells }: Band): Column | "several" | undefined {
  const over = below(columns, cell);
  if (over.length < 2) return over[0];
  const near = (a: number, b: number): boolean => Math.abs(a - b) < size * sameEdge;
  const own = over.filter(({ left, right }) => near(left, cell.left) || near(right, cell.right));
  const [column] = own;
  const others = cells.filter((each) => each !== cell);
  const isOccupied = over.every((each) => each === column || others.some((other) => below([each], other).length > 0));
  return column !== undefined && own.length === 1 && isOccupied ? column : "several";
}

/** pdf.js joins cells that are about a space apart: such a cell is divided where other rows have their columns. */
function dividedAt(columns: readonly Column[], cell: Cell, { size, cells }: Band, isRowLikely: boolean): Cell[] {
  const [first, second, ...more] = below(columns, cell);
  if (first === undefined || second === undefined || more.length > 0) return [cell];
  const isAligned = Math.abs(second.right - cell.right) < size * sameEdge;
  if (cells.length === 1 && !isAligned && !isRowLikely) return [cell];
  const perCharacter = (cell.right - cell.left) / cell.text.length;
  const spaces = [...cell.text.matchAll(/ /g)].map(({ index }) => index);
  const distance = (index: number): number => Math.abs(cell.left + (index + 1) * perCharacter - second.left);
  const space = spaces.toSorted((a, b) => distance(a) - distance(b))[0];
  if (space === undefined || (distance(space) > size * estimateError && !isAligned)) return [cell];
  const middle = (first.right + second.left) / 2;
  return [
    { ...cell, isEstimated: true, text: cell.text.slice(0, space), right: Math.min(first.right, middle) },
    { ...cell, isEstimated: true, text: cell.text.slice(space + 1), left: Math.max(second.left, middle) },
  ];
}

/**
 * Joins neighbouring columns of which no line fills both: numbers at the right edge and the header at the left one are
 * one column.
 */
export function joinedColumns(columns: readonly Column[], lines: readonly Placed[]): ReadonlyMap<Column, number> {
  const numbers = new Map<Column, number>();
  let group: Column[] = [];
  let number = -1;
  for (const column of columns) {
    const isBeside = lines.some((line) => line.has(column) && group.some((each) => line.has(each)));
    if (number === -1 || isBeside) {
      number += 1;
      group = [];
    }
    group.push(column);
    numbers.set(column, number);
  }
  return numbers;
}

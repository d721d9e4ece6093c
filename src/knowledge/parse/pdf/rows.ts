import type { Band } from "./bands.ts";
import type { Column, Placed } from "./columns.ts";
import type { Cell } from "./lines.ts";

/** A line of a table. */
export interface PlacedBand {
  readonly band: Band;
  readonly placed: Placed;
}

/** Lines of one text are at most this many heights of the letters apart; nearer ones stand beside each other. */
export const lineGap = 1.5;
const besideGap = 0.9;
/** Within a row, lines are nearer to each other than rows are, by this ratio. */
const tightRatio = 0.88;
/** A header has at most this many lines. */
const headerLinesMax = 4;

/** Distances of each line from the one above it, in heights of the letters. */
const gapsOf = (lines: readonly PlacedBand[]): number[] =>
  lines.map(({ band }, index) => {
    const above = lines[index - 1]?.band;
    return above === undefined ? Number.POSITIVE_INFINITY : (above.y - band.y) / Math.max(above.size, band.size);
  });

/** Gathers the lines of a table to rows. `isParted`: gaps between the rows show them. */
export function rowsOf(lines: readonly PlacedBand[], columns: readonly Column[]) {
  const gaps = gapsOf(lines);
  // Two gaps at least: the header may be further away than the rows are from each other.
  const wide = gaps.slice(1).toSorted((a, b) => b - a)[lines.length > 3 ? 1 : 0] ?? 0;
  const isTight = gaps.map((gap) => gap <= Math.min(lineGap, wide * tightRatio));
  const headerLines = linesOfHeader(lines, gaps, columns);
  const rows: PlacedBand[][] = [];
  for (let at = 0; at < lines.length;) {
    let end = at + 1;
    while (end < lines.length && isTight[end] === true) end += 1;
    const group = lines.slice(at, end);
    const isHeader = at === 0 && end < lines.length && group.length <= headerLinesMax && !group.some(hasDigits);
    if (group.length > 1 && (isHeader || isOneRow(group, columns))) rows.push(group);
    else for (const [index, line] of group.entries()) addLine(rows, line, gaps[at + index] ?? 0, columns, isTight);
    at = end;
  }
  return {
    rows: withHeader(rows, lines.slice(0, headerLines)),
    isHeaderMarked: headerLines > 0,
    isParted: isTight.includes(true),
  };
}

const hasDigits = ({ placed }: PlacedBand): boolean => [...placed.values()].some(({ text }) => /\p{N}/u.test(text));

/**
 * Lines go on with a row if they are not full, if their first words had no room above, or if their cells begin lower
 * than others.
 */
function isOneRow(group: readonly PlacedBand[], columns: readonly Column[]): boolean {
  return group.every(({ placed, band }, index) => {
    const above = group[index - 1];
    if (above === undefined || above.band.y - band.y < band.size * besideGap) return true;
    if (placed.size < columns.length && placed.size < 3) return true;
    const before = group.slice(0, index);
    return [...placed].every(
      ([column, cell]) =>
        isWrapped(above.placed.get(column), cell, column) || !before.some((line) => line.placed.has(column)),
    );
  });
}

/** Whether the first word of a cell has no room in the line above. */
export function isWrapped(above: Cell | undefined, cell: Cell, column: Column): boolean {
  if (above === undefined) return false;
  const perCharacter = (cell.right - cell.left) / cell.text.length;
  const [word = ""] = cell.text.split(" ");
  return above.right - above.left + (word.length + 1) * perCharacter > (column.right - column.left) * 0.97;
}

/** A line without a first cell continues the row above if all lines are evenly spaced. */
function addLine(
  rows: PlacedBand[][],
  line: PlacedBand,
  gap: number,
  columns: readonly Column[],
  isTight: readonly boolean[],
): void {
  const row = rows.at(-1);
  const above = row?.at(-1);
  const [first] = columns;
  if (row === undefined || above === undefined || first === undefined || gap > lineGap) {
    rows.push([line]);
    return;
  }
  const cells = [...line.placed];
  const goesOn =
    gap < besideGap ||
    (!isTight.includes(true) && !line.placed.has(first)) ||
    (line.placed.size < columns.length &&
      cells.every(
        ([column, cell]) => /^[\p{Ll}(]/u.test(cell.text) && isWrapped(above.placed.get(column), cell, column),
      ));
  if (goesOn) row.push(line);
  else rows.push([line]);
}

/** The number of first lines set in a font that the columns do not use below them. Names of rows may have it, too. */
function linesOfHeader(lines: readonly PlacedBand[], gaps: readonly number[], columns: readonly Column[]): number {
  for (let count = Math.min(headerLinesMax, lines.length - 1); count > 0; count -= 1) {
    if (gaps.slice(1, count).some((gap) => gap > lineGap)) continue;
    const isMarked = columns.slice(1).every((column) => {
      const below = new Set(lines.slice(count).map(({ placed }) => placed.get(column)?.font));
      return lines.slice(0, count).every(({ placed }) => !placed.has(column) || !below.has(placed.get(column)?.font));
    });
    const cells = lines.slice(0, count).flatMap(({ placed }) => [...placed]);
    const isOneFont = new Set(cells.map(([, { font }]) => font)).size === 1;
    if (isMarked && isOneFont && cells.some(([column]) => column !== columns[0])) return count;
  }
  return 0;
}

/** Makes one row of the lines of the header. */
function withHeader(rows: readonly PlacedBand[][], header: readonly PlacedBand[]): PlacedBand[][] {
  if (header.length === 0) return [...rows];
  const own = new Set(header);
  return [[...header], ...rows.map((row) => row.filter((line) => !own.has(line))).filter((row) => row.length > 0)];
}

import type { Block } from "#knowledge/documents/blocks.ts";
import { isHeaderRow, namedCells } from "#knowledge/documents/blocks.ts";
import type { Band } from "./bands.ts";
import { bandOf, bandsOf } from "./bands.ts";
import type { Column } from "./columns.ts";
import { joinedCells, joinedColumns, place } from "./columns.ts";
import type { JoinLines } from "./hyphens.ts";
import type { Cell, Line } from "./lines.ts";
import type { PlacedBand } from "./rows.ts";
import { isWrapped, lineGap, rowsOf } from "./rows.ts";

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly Block[];
  readonly columns: readonly Column[];
  /** Indexes of its lines among those of the page. */
  readonly lines: readonly number[];
}

interface Context {
  readonly join: JoinLines;
  /** The table at the end of the page before. */
  readonly before?: Table | undefined;
}

/** A header and two rows, or three rows. Fewer lines may be beside each other by chance. */
const rowsMin = 3;
const markedRowsMin = 2;
/** Lines of two rows are at most this many heights of the letters apart. */
const rowGap = 4;
/** A row with one cell filled at its first lines has at most this many of them. */
const cellLinesMax = 5;
/** A header has at most this many lines above one that has all names. */
const linesAboveMax = 3;
/** A page has fewer lines. */
const linesMax = 500;
/** A table of more columns is a drawing. */
const columnsMax = 60;
/** Columns that are closer have aligned edges, in heights of the letters. */
const closeColumns = 1.2;
const sameEdge = 0.3;
const alignedShare = 0.7;
/** Text of another size is no part of a table. */
const sizeRatio = 1.2;
/** A number or a bullet before an item of a list is no cell. */
const marker = /^(?:\(?(?:\d{1,3}|\p{L}|[ivx]{1,5})[.)]|[^\p{L}\p{N}\p{Sc}]{1,2})$/iu;
const bullet = /^(?:[•◦▪‣●○]|[–·*-]\s)\s?\S/u;
const leader = /(?:[.…_] ?){4}/u;

/** Finds the tables of a page: lines whose cells stand below each other. */
export function withTables(lines: readonly Line[], context: Context): readonly (Line | Table)[] {
  const tables: Table[] = [];
  const used = new Set<number>();
  const find = (bands: readonly Band[], before?: Table): void => {
    for (const table of tablesAmong(bands, { ...context, before })) {
      tables.push(table);
      for (const index of table.lines) used.add(index);
    }
  };
  find(bandsOf(lines), context.before);
  // A table beside other text is found among the lines as the file holds them.
  find(lines.map(bandOf).filter((_, index) => !used.has(index)));
  const starts = new Map(tables.map((table) => [Math.min(...table.lines), table]));
  return lines.flatMap((line, index): readonly (Line | Table)[] => {
    const table = starts.get(index);
    return table !== undefined ? [table] : used.has(index) ? [] : [line];
  });
}

function tablesAmong(bands: readonly Band[], { join, before }: Context): readonly Table[] {
  const tables: Table[] = [];
  // The words of justified text can be as far apart as close columns.
  const spaced = bands.map(withSpaces);
  for (let at = 0; at < bands.length;) {
    const goingOn = at === 0 ? before : undefined;
    const runs = [bands, spaced].map((each) => [each, runAt(each, at, goingOn?.columns)] as const);
    const found = runs.flatMap(([each, run]) => {
      const table = run && tableOf(withLinesAbove(run, each, at), { join, before: goingOn });
      return table === undefined ? [] : [{ table, end: at + (run?.lines.length ?? 1) }];
    });
    const [longest] = found.toSorted((a, b) => b.table.lines.length - a.table.lines.length);
    if (longest !== undefined) tables.push(longest.table);
    // Text in columns is not tried again from each of its lines.
    const tried = Math.max(...runs.map(([, run]) => run?.lines.length ?? 1));
    at = longest?.end ?? at + (tried < rowsMin ? 1 : tried);
  }
  return tables;
}

function withSpaces(band: Band): Band {
  const cells: Cell[] = [];
  for (const cell of band.cells) {
    const last = cells.at(-1);
    const isNear = last !== undefined && cell.left - last.right < band.size * closeColumns;
    if (isNear) cells[cells.length - 1] = joinedCells(last, cell);
    else cells.push(cell);
  }
  return { ...band, cells };
}

interface Run {
  readonly columns: readonly Column[];
  readonly lines: readonly PlacedBand[];
}

/** The lines from `start` on whose cells stand below each other. `known`: the columns that go on. */
function runAt(bands: readonly Band[], start: number, known: readonly Column[] = []): Run | undefined {
  const columns = known.map((column) => ({ ...column }));
  const lines: PlacedBand[] = [];
  for (let at = start; at < bands.length && lines.length < linesMax; at += 1) {
    const [above, band] = [lines.at(-1)?.band, bands[at]];
    if (band === undefined || band.cells.length > columnsMax || columns.length > columnsMax) break;
    if (above === undefined && band.cells.length < 2) return undefined;
    const gap = above === undefined ? 0 : (above.y - band.y) / Math.max(above.size, band.size);
    if (above !== undefined && (gap > rowGap || ratioOf(above.size, band.size) > sizeRatio)) break;
    const isAmongRows = leadsToRow(bands, at, gap);
    if (band.cells.length < 2 && gap > lineGap && !isAmongRows) break;
    const placed = place(columns, band, isAmongRows);
    if (placed === undefined) break;
    lines.push({ band, placed });
  }
  return lines.length === 0 ? undefined : { columns, lines };
}

/** Whether a line with several cells follows, as close as lines before it are. */
function leadsToRow(bands: readonly Band[], start: number, gapAbove: number): boolean {
  for (let at = start; at < start + cellLinesMax; at += 1) {
    const [band, next] = [bands[at], bands[at + 1]];
    const gapMax = at === start ? Math.max(gapAbove * 1.4, lineGap) : lineGap;
    if (band === undefined || next === undefined || (band.y - next.y) / band.size > gapMax) return false;
    if (next.cells.length > 1) return true;
  }
  return false;
}

const ratioOf = (a: number, b: number): number => Math.max(a, b) / Math.min(a, b);

/** Adds the first lines of a header of which only some names need more than one line. */
function withLinesAbove(run: Run, bands: readonly Band[], start: number): Run {
  const columns = run.columns.map((column) => ({ ...column }));
  const numbers = new Map(run.columns.map((column, index) => [column, columns[index] ?? column]));
  const lines = run.lines.map(({ band, placed }): PlacedBand => ({
    band,
    placed: new Map([...placed].map(([column, cell]) => [numbers.get(column) ?? column, cell])),
  }));
  for (let at = start - 1; at >= Math.max(0, start - linesAboveMax); at -= 1) {
    const [band, first] = [bands[at], lines[0]];
    if (band === undefined || first === undefined || band.y - first.band.y > band.size * rowGap) break;
    if (ratioOf(band.size, first.band.size) > sizeRatio) break;
    const count = columns.length;
    const placed = place(columns, band, false);
    if (placed === undefined || columns.length > count || !isHeaderAbove({ band, placed }, first, columns)) break;
    lines.unshift({ band, placed });
  }
  return lines.length === run.lines.length ? run : { columns, lines };
}

function isHeaderAbove({ band, placed }: PlacedBand, below: PlacedBand, columns: readonly Column[]): boolean {
  if (placed.size === columns.length) return true;
  const [column] = columns;
  const [corner, cell] = column === undefined ? [] : [placed.get(column), below.placed.get(column)];
  const font = below.band.cells[0]?.font;
  if ([...band.cells, ...below.band.cells].some((each) => each.font !== font)) return false;
  if (band.y - below.band.y > band.size * lineGap) return false;
  return corner === undefined || (column !== undefined && cell !== undefined && isWrapped(corner, cell, column));
}

function tableOf({ columns, lines }: Run, { join, before }: Context): Table | undefined {
  const numbers = joinedColumns(
    columns,
    lines.map(({ placed }) => placed),
  );
  const count = Math.max(...numbers.values()) + 1;
  const { rows: all, isHeaderMarked, isParted } = rowsOf(lines, columns);
  const texts = all.map((row) => textsOf(row, numbers, count, join));
  let end = texts.length;
  while (end > 0 && filled(texts[end - 1]) < 2) end -= 1;
  const [rows, bands] = [texts.slice(0, end), all.slice(0, end)];
  const goesOn = before !== undefined && isSameTable(before, columns, numbers);
  const least = goesOn ? 1 : isHeaderMarked && count > 2 ? markedRowsMin : rowsMin;
  if (count < 2 || rows.length < least || rows.filter((row) => filled(row) > 1).length * 2 <= rows.length)
    return undefined;
  if (!isInOrder(bands) || isList(rows) || !isAligned(columns, lines)) return undefined;
  if (!isParted && isProse(columns, lines)) return undefined;
  const [first = [], ...others] = rows;
  const isHeader = isHeaderMarked || others.slice(0, 3).some((row) => isHeaderRow(first, row));
  const isRepeated = goesOn && before.header.join(" ") === first.join(" ");
  const isNamed = goesOn ? isRepeated || before.header.length === 0 : true;
  const header = isHeader && isNamed ? first : goesOn ? before.header : [];
  const body = (isHeader && isNamed) || isRepeated ? others : rows;
  if (header.length === 0 && isContents(body)) return undefined;
  return {
    header,
    columns,
    rows: body.map((cells) => ({ kind: "row", cells: namedCells(header, cells) })),
    lines: bands.flat().flatMap(({ band }) => band.lines),
  };
}

const filled = (row: readonly string[] = []): number => row.filter((text) => text !== "").length;

function textsOf(
  row: readonly PlacedBand[],
  numbers: ReadonlyMap<Column, number>,
  count: number,
  join: JoinLines,
): string[] {
  const lines = Array.from({ length: count }, (): string[] => []);
  for (const [column, { text }] of row.flatMap(({ placed }) => [...placed]))
    lines[numbers.get(column) ?? 0]?.push(text);
  return lines.map(join);
}

function isSameTable(before: Table, columns: readonly Column[], numbers: ReadonlyMap<Column, number>): boolean {
  const same = columns.length === before.columns.length && new Set(numbers.values()).size === columns.length;
  return (
    same &&
    columns.every(({ left, right }, index) => {
      const column = before.columns[index];
      return column !== undefined && left < column.right && right > column.left;
    })
  );
}

/** Columns of text are written one after the other, and the rows of a table are. */
function isInOrder(rows: readonly (readonly PlacedBand[])[]): boolean {
  const linesOf = (row: readonly PlacedBand[] = []): number[] => row.flatMap(({ band }) => band.lines);
  const crossed = rows.filter((row, index) => Math.max(...linesOf(rows[index - 1])) > Math.min(...linesOf(row)));
  return crossed.length * 2 <= rows.length;
}

function isList(rows: readonly (readonly string[])[]): boolean {
  const items = rows.filter(
    ([first = "", ...others]) => marker.test(first) || [first, ...others].some((text) => bullet.test(text)),
  );
  return items.length * 2 > rows.length;
}

/** Titles and the pages where they begin. */
function isContents(rows: readonly (readonly string[])[]): boolean {
  if (rows.some((row) => row.some((text) => leader.test(text)))) return true;
  const pages = rows.map((row) => (/^\d{1,4}$/.test(row.at(-1) ?? "") ? Number(row.at(-1)) : Number.NaN));
  const isRising = pages.every((page, index) => index === 0 || page >= (pages[index - 1] ?? Number.NaN));
  return isRising && rows.every((row) => filled(row) === 2 || filled(row) === row.length);
}

/** Wide spaces between words are below each other by chance, but the words there do not begin at one edge. */
function isAligned(columns: readonly Column[], lines: readonly PlacedBand[]): boolean {
  return columns.every((column, index) => {
    const before = columns[index - 1];
    const all = lines.flatMap(({ placed }) => placed.get(column) ?? []);
    const cells = all.filter((cell) => cell.isEstimated !== true);
    const size = lines[0]?.band.size ?? 0;
    if (before === undefined || column.left - before.right >= size * closeColumns) return true;
    // The right edge of justified text is one for all lines.
    const areNumbers = cells.filter(({ text }) => /^[\p{Sc}+-]?\s?\p{N}/u.test(text)).length * 2 > cells.length;
    const edges = [(cell: Cell) => cell.left, ...(areNumbers ? [(cell: Cell) => cell.right] : [])];
    return edges.some((edge) => {
      const places = cells.map(edge).toSorted((a, b) => a - b);
      const middle = places[Math.floor(places.length / 2)] ?? 0;
      return places.filter((each) => Math.abs(each - middle) < size * sameEdge).length >= all.length * alignedShare;
    });
  });
}

/** Whether at least two columns hold running text: several words a line, and lines of about the same length. */
function isProse(columns: readonly Column[], lines: readonly PlacedBand[]): boolean {
  const running = columns.filter((column) => {
    const cells = lines.flatMap(({ placed }) => placed.get(column) ?? []);
    const words = cells.reduce((sum, { text }) => sum + text.split(" ").length, 0);
    const width = cells.reduce((sum, { left, right }) => sum + right - left, 0);
    return words >= cells.length * 3 && width >= cells.length * (column.right - column.left) * 0.7;
  });
  return running.length > 1;
}

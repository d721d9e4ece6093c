import type { Block } from "#knowledge/documents/blocks.ts";
import { isHeaderRow, namedCells } from "#knowledge/documents/blocks.ts";

/** A line of a page. Distances are in points. */
export interface Line {
  readonly text: string;
  /** Distance from the lower edge of the page. */
  readonly y: number;
  readonly size: number;
  /** Its texts with wide spaces between them, from left to right. */
  readonly cells: readonly Cell[];
}

export interface Cell {
  readonly text: string;
  /** Distances of its ends from the left edge of the page. */
  readonly left: number;
  readonly right: number;
  readonly font: string;
}

export interface Table {
  readonly rows: readonly Block[];
  readonly lines: readonly Line[];
}

interface Column {
  left: number;
  right: number;
}

/** A header and two rows, or three rows. Fewer lines may be beside each other by chance. */
const rowsMin = 3;
/** Lines of one row, and of two, are at most this many times their size apart. */
const lineGap = 1.5;
const rowGap = 4;
/** Columns of text, which continue from line to line, are longer. */
const cellCharacters = 30;
/** A number or a bullet before an item of a list is no cell. */
const marker = /^(?:\d{1,3}[.)]|[a-z][.)]|[^\p{L}\p{N}\p{Sc}]{1,2})$/u;

/** Finds the tables among the lines of a page: lines whose cells stand below each other. */
export function withTables(lines: readonly Line[]): readonly (Line | Table)[] {
  const parts: (Line | Table)[] = [];
  for (let at = 0; at < lines.length;) {
    const table = tableAt(lines, at);
    const line = lines[at] as Line;
    parts.push(table ?? line);
    at += table?.lines.length ?? 1;
  }
  return parts;
}

function tableAt(lines: readonly Line[], start: number): Table | undefined {
  const first = lines[start];
  if (first === undefined || first.cells.length < 2 || marker.test(first.cells[0]?.text ?? "")) return undefined;
  const columns: Column[] = first.cells.map(({ left, right }) => ({ left, right }));
  const rows: string[][] = [first.cells.map(({ text }) => text)];
  let end = start + 1;
  for (; end < lines.length; end += 1) {
    const [above, line] = [lines[end - 1], lines[end]];
    const placed = line === undefined ? undefined : placedIn(columns, line.cells);
    if (above === undefined || line === undefined || placed === undefined) break;
    const gap = (above.y - line.y) / Math.max(above.size, line.size);
    if (gap <= 0 || gap > rowGap) break;
    const last = rows.at(-1);
    if (placed[0] === "" && gap <= lineGap && last !== undefined) continueRow(last, placed);
    else if (line.cells.length < 2) break;
    else rows.push(placed);
  }
  if (rows.length < rowsMin || isText(rows)) return undefined;
  const own = lines.slice(start, end);
  return { rows: blocksOf(rows, hasOwnFont(own)), lines: own };
}

/** The texts by column, "" where there is none. Undefined if a cell is below no column, or below several. */
function placedIn(columns: readonly Column[], cells: readonly Cell[]): string[] | undefined {
  const placed = columns.map(() => "");
  const places = cells.map((cell) => columns.findIndex(({ left, right }) => cell.left < right && cell.right > left));
  if (places.some((place, index) => place === -1 || place <= (places[index - 1] ?? -1))) return undefined;
  for (const [index, cell] of cells.entries()) {
    const place = places[index] ?? 0;
    const next = columns[place + 1];
    if (next !== undefined && cell.right > next.left) return undefined;
    placed[place] = cell.text;
  }
  for (const [index, cell] of cells.entries()) {
    const column = columns[places[index] ?? 0];
    if (column === undefined) continue;
    column.left = Math.min(column.left, cell.left);
    column.right = Math.max(column.right, cell.right);
  }
  return placed;
}

function continueRow(row: string[], more: readonly string[]): void {
  for (const [column, text] of more.entries()) if (text !== "") row[column] = `${row[column] ?? ""} ${text}`.trim();
}

/** Whether the columns hold running text. */
function isText(rows: readonly (readonly string[])[]): boolean {
  const long = (rows[0] ?? []).filter((_, column) => {
    const characters = rows.reduce((sum, row) => sum + (row[column] ?? "").length, 0);
    return characters > rows.length * cellCharacters;
  });
  return long.length > 1;
}

/** Whether the first line is set in a font that the second one does not use. */
function hasOwnFont([first, second]: readonly Line[]): boolean {
  const fonts = new Set(second?.cells.map(({ font }) => font));
  return first?.cells.every(({ font }) => !fonts.has(font)) === true;
}

function blocksOf(rows: readonly (readonly string[])[], isFirstMarked: boolean): readonly Block[] {
  const [first = [], second = []] = rows;
  const isHeader = isFirstMarked || isHeaderRow(first, second);
  const header = isHeader ? first : [];
  return (isHeader ? rows.slice(1) : rows).map((cells) => ({ kind: "row", cells: namedCells(header, cells) }));
}

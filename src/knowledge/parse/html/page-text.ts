import { describePictures, isHeaderRow, linkMark, namedCells, oneLine } from "#knowledge/documents/blocks.ts";
import type { Block } from "#knowledge/documents/blocks.ts";
import type { Layouts } from "./layout-tables.ts";

const columnsMax = 200;
/** A crafted table could repeat a long text in very many rows. */
const repeatedMax = 200_000;
const headingCharactersMax = 120;
const headerCellsMin = 2;

interface OpenList {
  readonly ordered: boolean;
  next: number;
}

interface OpenTable {
  /** Its cells hold parts of the page. */
  readonly isLayout: boolean;
  header: string[];
  cells: string[];
  headerCells: number;
  /** Filled cells that are no header cells. */
  plainCells: number;
  /** Cells that are bold from end to end. */
  boldCells: number;
  /** The last cell that was opened. `columns`, `rows`: how many it spans. */
  cell: { readonly isHeader: boolean; readonly isBold: boolean; readonly columns: number; readonly rows: number };
  /** Cells of rows above that span the next rows, by column. */
  readonly spanning: Map<number, SpanningCell>;
  /** Characters of cells that were repeated in the rows they span. */
  repeated: number;
  /** The header has cells over several columns, which a second row may name apart. */
  isHeaderParted: boolean;
  /** The first row, until the second shows whether it names the columns. */
  first: TableRow | null;
}

interface SpanningCell {
  readonly text: string;
  readonly isHeader: boolean;
  rows: number;
}

interface TableRow {
  readonly cells: readonly string[];
  readonly isBold: boolean;
}

/** The text since the last block, and the open elements that decide what kind of block it becomes. */
export interface PageText {
  readonly add: (block: Block) => void;
  text: string;
  /** Characters of the text in bold elements. */
  boldText: number;
  /** Letters of the text in links. */
  linkText: number;
  /** How many elements of each kind are open. */
  bold: number;
  links: number;
  preformatted: number;
  /** Level of the open heading; 0 without one. */
  heading: number;
  readonly lists: OpenList[];
  item: { readonly number: number | null; readonly depth: number } | null;
  readonly tables: OpenTable[];
  readonly layouts: Layouts;
  /** Whether each open `span` is bold. */
  readonly spans: boolean[];
  inCell: boolean;
  /** Whether each open button opens something that is read. */
  readonly buttons: boolean[];
}

export function createPageText(add: (block: Block) => void, layouts: Layouts): PageText {
  return {
    add,
    layouts,
    text: "",
    boldText: 0,
    linkText: 0,
    bold: 0,
    links: 0,
    preformatted: 0,
    heading: 0,
    lists: [],
    item: null,
    tables: [],
    spans: [],
    inCell: false,
    buttons: [],
  };
}

export const lettersOf = (text: string): number => text.replaceAll(/[\s\p{P}\p{S}]/gu, "").length;

export function addText(page: PageText, data: string, letters: number): void {
  page.text += data;
  if (page.bold > 0) page.boldText += data.length;
  if (page.links > 0) page.linkText += letters;
}

/** Ends a block. Text in a table cell or on a button is not cut into blocks. */
export function endBlock(page: PageText): void {
  if (page.inCell) return;
  if (page.buttons.length > 0 && page.heading === 0 && page.text.length <= headingCharactersMax) {
    page.text += " ";
    return;
  }
  const { text, boldText, linkText } = page;
  page.text = "";
  page.boldText = 0;
  if (page.preformatted > 0) {
    page.add({ kind: "code", text: text.replaceAll(/^\n+|\s+$/g, "") });
    return;
  }
  page.linkText = 0;
  const described = describePictures(text);
  const line = oneLine(described);
  if (line === "") return;
  const isBold = boldText > 0 && boldText >= text.trim().length;
  const isLinked = linkText > 0 && linkText >= lettersOf(text);
  const marked = isLinked ? `${linkMark}${line}` : line;
  if (page.heading > 0) page.add({ kind: "heading", depth: page.heading, text: line });
  else if (page.item !== null) {
    page.add({ kind: "item", ...page.item, text: marked });
    page.item = null;
  } else if (isBold && marked.length <= headingCharactersMax && page.lists.length === 0) {
    page.add({ kind: "heading", depth: 6, text: marked });
  } else if (isLinked) page.add({ kind: "paragraph", text: marked });
  else for (const part of described.split("\u2028")) page.add({ kind: "paragraph", text: oneLine(part) });
}

export function endCell(page: PageText): void {
  if (!page.inCell) return;
  page.inCell = false;
  const table = page.tables.at(-1);
  if (table !== undefined && table.cells.length < columnsMax) {
    const text = oneLine(describePictures(page.text));
    const { isHeader, columns, rows } = table.cell;
    addSpanning(table);
    for (let at = 0; at < columns && table.cells.length < columnsMax; at += 1) {
      // The name of several columns is that of each. A value stands in the first one.
      const repeated = at === 0 || isHeader ? text : "";
      if (rows > 1) table.spanning.set(table.cells.length, { text: repeated, isHeader, rows: rows - 1 });
      table.cells.push(repeated);
      if (isHeader) table.headerCells += 1;
    }
    if (!isHeader && text !== "") table.plainCells += 1;
    const isBold = table.cell.isBold || page.boldText >= page.text.trim().length;
    if (text !== "" && isBold) table.boldCells += 1;
  }
  page.text = "";
  page.linkText = 0;
  page.boldText = 0;
}

/** Adds the cells of rows above that span this one, up to the next free column. */
function addSpanning(table: OpenTable): void {
  for (;;) {
    const column = table.cells.length;
    const cell = table.spanning.get(column);
    if (cell === undefined || column >= columnsMax) return;
    cell.rows -= 1;
    if (cell.rows === 0) table.spanning.delete(column);
    table.repeated += cell.text.length;
    table.cells.push(table.repeated > repeatedMax ? "" : cell.text);
    if (cell.isHeader) table.headerCells += 1;
  }
}

/**
 * The first row names the columns if it is of header cells alone, or reads as a header above the second row. Every other
 * row is a block.
 */
export function endRow(page: PageText): void {
  endCell(page);
  const table = page.tables.at(-1);
  if (table === undefined || table.cells.length === 0) return;
  addSpanning(table);
  const { cells } = table;
  const isBold = table.boldCells > 0 && table.boldCells === cells.filter((text) => text !== "").length;
  // The corner of a table is often an empty cell of another kind.
  const isHeader =
    table.headerCells === cells.length || (table.headerCells >= headerCellsMin && table.plainCells === 0);
  table.cells = [];
  table.headerCells = 0;
  table.plainCells = 0;
  table.boldCells = 0;
  if (table.header.length === 0 && table.first === null && isHeader) {
    table.header = cells;
    table.isHeaderParted = cells.some((name, at) => name !== "" && name === cells[at + 1]);
    return;
  }
  if (table.isHeaderParted && isHeader) {
    table.header = cells.map((name, at) => withGroup(table.header[at] ?? "", name));
    table.isHeaderParted = false;
    return;
  }
  table.isHeaderParted = false;
  if (table.header.length === 0 && table.first === null) {
    table.first = { cells, isBold };
    return;
  }
  endFirstRow(page, table, { cells, isBold });
  page.add({ kind: "row", cells: namedCells(table.header, cells) });
}

/** "Price" above "Month" and "Year". */
const withGroup = (group: string, name: string): string =>
  group === "" || group === name ? name : name === "" ? group : `${group} ${name}`;

/** Adds the row that waits, or takes it as the header. `second`: the row below it, if there is one. */
function endFirstRow(page: PageText, table: OpenTable, second?: TableRow): void {
  const { first } = table;
  if (first === null) return;
  table.first = { cells: [], isBold: false };
  if (first.cells.length === 0) return;
  if (second !== undefined && isHeaderAbove(first, second)) table.header = [...first.cells];
  else page.add({ kind: "row", cells: first.cells });
}

export function endTable(page: PageText): void {
  endRow(page);
  const table = page.tables.pop();
  if (table !== undefined) endFirstRow(page, table);
}

/** A row of bold words, or of short words above numbers. */
function isHeaderAbove(first: TableRow, second: TableRow): boolean {
  if (first.cells.length < 2 || second.cells.length < 2) return false;
  if (first.isBold) return !second.isBold;
  return isHeaderRow(first.cells, second.cells);
}

/** A button that opens something is the heading of what it opens. */
export function openButton(page: PageText, isOpener: boolean): void {
  endBlock(page);
  page.buttons.push(isOpener);
}

export function endButton(page: PageText): void {
  const isOpener = page.buttons.pop() === true;
  const text = oneLine(describePictures(page.text));
  // No label is that long.
  if (text.length > headingCharactersMax) page.add({ kind: "paragraph", text });
  else if (text !== "" && (isOpener || text.endsWith("?"))) page.add({ kind: "heading", depth: 6, text });
  page.text = "";
  page.boldText = 0;
  page.linkText = 0;
}

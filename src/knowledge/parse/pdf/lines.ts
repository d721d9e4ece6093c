import { oneLine } from "#knowledge/documents/blocks.ts";

/** A line of a page. Distances are in points. */
export interface Line {
  readonly text: string;
  /** Distance from the lower edge of the page. */
  readonly y: number;
  readonly size: number;
  /** Its texts with more than a space between them, from left to right. */
  readonly cells: readonly Cell[];
}

export interface Cell {
  readonly text: string;
  /** Distances of its ends from the left edge of the page. */
  readonly left: number;
  readonly right: number;
  readonly font: string;
  /** Whether its ends are estimated. */
  readonly isEstimated?: boolean;
}

/** A wider space, in heights of the letters, may divide cells. pdf.js writes narrower ones into the text. */
const cellGap = 0.6;
/** The space of typewriters is as wide as that. */
const typewriterGap = 1.2;

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly fontName: string;
  readonly hasEOL: boolean;
}

/** The lines in the order in which the file holds them. `typewriters`: the fonts whose letters have one width. */
export function linesOf(items: readonly unknown[], typewriters: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  let text = "";
  let y = 0;
  let size = 0;
  let cells: Cell[] = [];
  const end = (): void => {
    const line = oneLine(text);
    const own = cells.map((cell) => ({ ...cell, text: oneLine(cell.text) }));
    if (line !== "") lines.push({ text: line, y, size, cells: own });
    text = "";
    size = 0;
    cells = [];
  };
  for (const item of items) {
    if (!isText(item)) continue;
    const [, , c = 0, d = 0, e = 0, f = 0] = item.transform;
    const height = Math.hypot(c, d);
    if (text.trim() !== "" && Math.abs(f - y) > Math.max(height, size) * 0.6) end();
    if (text === "") y = f;
    text += item.str;
    if (item.str.trim() !== "") size = Math.max(size, height);
    addToCells(cells, item, e, height * (typewriters.has(item.fontName) ? typewriterGap : cellGap));
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

function addToCells(cells: Cell[], { str, width, fontName }: TextItem, left: number, gap: number): void {
  const last = cells.at(-1);
  if (str.trim() === "") {
    // A space as wide as a gap is not counted, since the next text tells where it ends.
    if (last !== undefined) cells[cells.length - 1] = { ...last, text: `${last.text}${str}` };
    return;
  }
  const right = left + width;
  if (last === undefined || left - last.right > gap) cells.push({ text: str, left, right, font: fontName });
  else cells[cells.length - 1] = { ...last, text: `${last.text}${str}`, right: Math.max(last.right, right) };
}

function isText(item: unknown): item is TextItem {
  return typeof item === "object" && item !== null && "str" in item && typeof item.str === "string";
}

import type { Cell, Line } from "./lines.ts";

/** The texts at one height of a page: a line, or lines that the file holds apart, such as the cells of a row. */
export interface Band {
  readonly y: number;
  readonly size: number;
  readonly cells: readonly Cell[];
  /** Indexes of its lines in the order of the file. */
  readonly lines: readonly number[];
}

/** Lines of one height differ by less, in heights of the letters. */
const sameHeight = 0.3;

export const bandOf = (line: Line, index: number): Band => ({ ...line, lines: [index] });

/** The bands of a page from top to bottom. */
export function bandsOf(lines: readonly Line[]): Band[] {
  const bands: Band[] = [];
  const fromTop = lines.map(bandOf).toSorted((a, b) => b.y - a.y);
  let open: Band[] = [];
  const end = (): void => {
    const [first] = open;
    if (first === undefined) return;
    const cells = open.flatMap((band) => band.cells).toSorted((a, b) => a.left - b.left);
    const size = open.reduce((most, band) => Math.max(most, band.size), 0);
    bands.push({ y: first.y, size, cells, lines: open.flatMap((band) => band.lines) });
    open = [];
  };
  for (const band of fromTop) {
    const [first] = open;
    if (first !== undefined && first.y - band.y > Math.min(first.size, band.size) * sameHeight) end();
    open.push(band);
  }
  end();
  return bands;
}

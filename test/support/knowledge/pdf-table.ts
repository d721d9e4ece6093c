import type { PdfLine } from "./file-builders.ts";

export interface PdfColumn {
  readonly x: number;
  /** Cells are wrapped to this width. */
  readonly width: number;
  readonly align?: "left" | "right";
}

export interface PdfTable {
  readonly columns: readonly PdfColumn[];
  /** A line break within a cell begins a line there. */
  readonly rows: readonly (readonly string[])[];
  /** The first line's distance from the lower edge of the page. */
  readonly y: number;
  readonly size?: number;
  /** Between the lines of a cell. */
  readonly leading?: number;
  /** Between rows, in addition to the leading. */
  readonly padding?: number;
  readonly isHeaderBold?: boolean;
  /** The place of cells of fewer lines in their row. */
  readonly stand?: "top" | "middle" | "bottom";
  /** Programs write whole cells, or the lines of a row. */
  readonly order?: "cells" | "lines" | "columns";
}

/** Widths of Helvetica from the space to "~", in thousandths of its size. */
const widths = (
  "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 " +
  "584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 " +
  "667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 " +
  "500 722 500 500 500 334 260 334 584"
)
  .split(" ")
  .map(Number);

const widthOf = (text: string, size: number): number =>
  [...text].reduce((sum, letter) => sum + ((widths[letter.charCodeAt(0) - 32] ?? 556) * size) / 1_000, 0);

/** Breaks a text into lines of a width. */
function wrapped(text: string, width: number, size: number): string[] {
  return text.split("\n").flatMap((part) => {
    const lines: string[] = [];
    for (const word of part.split(" ")) {
      const line = lines.at(-1);
      const longer = `${line} ${word}`;
      if (line !== undefined && widthOf(longer, size) <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  });
}

/** Sets a table as programs for texts do. */
export function pdfTable(table: PdfTable): PdfLine[] {
  const { columns, rows, size = 10, leading = 12, padding = 8, stand = "top", order = "lines" } = table;
  const cells: { readonly row: number; readonly column: number; readonly line: PdfLine }[] = [];
  let { y } = table;
  for (const [row, texts] of rows.entries()) {
    const wraps = texts.map((text, column) => wrapped(text, columns[column]?.width ?? 0, size));
    const most = Math.max(...wraps.map(({ length }) => length));
    for (const [column, lines] of wraps.entries()) {
      const free = (most - lines.length) * leading * { top: 0, middle: 0.5, bottom: 1 }[stand];
      const { x, width, align } = columns[column] ?? { x: 0, width: 0, align: "left" };
      for (const [index, text] of lines.entries()) {
        if (text === "") continue;
        const left = align === "right" ? x + width - widthOf(text, size) : x;
        const isBold = row === 0 && table.isHeaderBold === true;
        cells.push({ row, column, line: { text, size, y: y - free - index * leading, x: left, isBold } });
      }
    }
    y -= most * leading + padding;
  }
  if (order === "lines") cells.sort((a, b) => a.row - b.row || b.line.y - a.line.y || a.column - b.column);
  if (order === "columns") cells.sort((a, b) => a.column - b.column);
  return cells.map(({ line }) => line);
}

/** A part of a document, independent of the file's format. Texts are one line each, white space collapsed. */
export type Block =
  | { readonly kind: "heading"; readonly depth: number; readonly text: string }
  | { readonly kind: "paragraph"; readonly text: string }
  /** `number` is null in a bulleted list; `depth` is 0 at the outermost level. */
  | {
      readonly kind: "item";
      readonly number: number | null;
      readonly depth: number;
      readonly text: string;
    }
  /** Cells as "Column: value" where the table names its columns. `alone`: the row becomes a passage of its own. */
  | { readonly kind: "row"; readonly cells: readonly string[]; readonly alone?: boolean }
  /** Preformatted lines. */
  | { readonly kind: "code"; readonly text: string };

export interface ParsedDocument {
  /** The title in the content; null where it has none. */
  readonly title: string | null;
  readonly blocks: readonly Block[];
  /** Why little of a page was read, for the person who added it. */
  readonly note?: string | null;
}

/** A file without readable text. The message is shown to the person who added it. */
export class UnreadableDocument extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "UnreadableDocument";
  }
}

export const documentBytesMax = 25 * 1024 * 1024;
/** A document of more blocks holds data, not text. */
const blocksMax = 200_000;
export const titleCharactersMax = 300;
/** Parsing takes time that grows with the square of the depth. */
const elementDepthMax = 5_000;

/** Counts open elements, and throws {@link UnreadableDocument} at a depth that no written page has. */
export function createDepthGuard(): { open(): void; close(): void } {
  let depth = 0;
  return {
    open() {
      depth += 1;
      if (depth > elementDepthMax) {
        throw new UnreadableDocument(`The HTML is nested more than ${elementDepthMax} levels deep.`);
      }
    },
    close() {
      depth -= 1;
    },
  };
}

/** Collects blocks within the limits; drops empty ones. */
export interface BlockList {
  add(block: Block): void;
  readonly blocks: readonly Block[];
}

export function createBlockList(): BlockList {
  const blocks: Block[] = [];
  return {
    blocks,
    add(block) {
      if (block.kind === "row" ? block.cells.every((cell) => cell === "") : block.text === "") return;
      if (blocks.length >= blocksMax)
        throw new UnreadableDocument(`The document has more than ${blocksMax} paragraphs.`);
      blocks.push(block);
    },
  };
}

/** Collapses white space and invisible characters to single spaces. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\u00ad\u200b\u2060\ufeff]+/g, (run) => (/^[\u00ad\u200b\u2060\ufeff]+$/.test(run) ? "" : " "))
    .trim();
}

/** Precedes a line of nothing but links, which names other pages and answers nothing. */
export const linkMark = "→ ";

const pictureStart = "\ue000";
const pictureEnd = "\ue001";

/** Marks a picture's description for {@link describePictures}, which decides by the text that follows. */
export function markPicture(description: string): string {
  return `${pictureStart}${oneLine(description.replaceAll(/[\ue000\ue001]/g, ""))}${pictureEnd}`;
}

/** Inserts the marked descriptions, except those that the next word repeats ("⟨Save⟩ **Save**"). */
export function describePictures(text: string): string {
  if (!text.includes(pictureStart)) return text;
  const [first = "", ...parts] = text.split(pictureStart);
  return parts.reduce((before, part) => {
    const [description = "", after = ""] = part.split(pictureEnd);
    const word = /^[\p{L}\p{N}]+/u.exec(description)?.[0]?.toLowerCase();
    const next = /^\s*([\p{L}\p{N}]+)/u.exec(after)?.[1]?.toLowerCase();
    return word !== undefined && word === next ? `${before} ${after}` : `${before} ${description} ${after}`;
  }, first);
}

/** Short words without digits, above a row that has numbers below at least one of them. */
export function isHeaderRow(first: readonly string[], second: readonly string[]): boolean {
  const isName = (cell: string): boolean => cell !== "" && cell.length <= 40 && !/\p{N}/u.test(cell);
  if (!first.every(isName) || new Set(first).size < first.length) return false;
  return second.some((cell, column) => column < first.length && /^[\p{Sc}~+-]?\s?\p{N}/u.test(cell));
}

/** Makes "Column: value" of each cell with a value, where the column has a name. */
export function namedCells(header: readonly string[], cells: readonly string[]): string[] {
  return cells.map((cell, column) => {
    const name = header[column] ?? "";
    return cell === "" || name === "" || name === cell ? cell : `${name}: ${cell}`;
  });
}

/** What a document is made of once its format is gone. Texts are one line each, white space collapsed. */
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
  /** Cells as "Column: value" where the table names its columns. `alone`: a passage by itself, as the rows of a list of things are. */
  | { readonly kind: "row"; readonly cells: readonly string[]; readonly alone?: boolean }
  /** Lines as they stand. */
  | { readonly kind: "code"; readonly text: string };

export interface ParsedDocument {
  /** From the content itself; null when it names none. */
  readonly title: string | null;
  readonly blocks: readonly Block[];
}

/** A file that cannot be made into text. The message is shown to whoever added it. */
export class UnreadableDocument extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "UnreadableDocument";
  }
}

export const documentBytesMax = 25 * 1024 * 1024;
/** A document of more blocks than this is data, not something to read. */
const blocksMax = 200_000;
export const titleCharactersMax = 300;
/** The parser's time grows with the square of the depth. */
const elementDepthMax = 5_000;

/** Counts open elements; refuses a page that nests deeper than any that a person wrote. */
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

/** Collects blocks within the limits; drops what is empty. */
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

/** One line: white space and invisible characters collapsed to single spaces. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\u00ad\u200b\u2060\ufeff]+/g, (run) => (/^[\u00ad\u200b\u2060\ufeff]+$/.test(run) ? "" : " "))
    .trim();
}

/** Before a line that is nothing but links: it names other pages, and answers nothing. */
export const linkMark = "→ ";

const pictureStart = "\ue000";
const pictureEnd = "\ue001";

/** A picture's description, to be settled by {@link describePictures} once what follows it is known. */
export function markPicture(description: string): string {
  return `${pictureStart}${oneLine(description.replaceAll(/[\ue000\ue001]/g, ""))}${pictureEnd}`;
}

/** Puts pictures' descriptions into the text, but for those that the text beside them says again ("⟨Save⟩ **Save**"). */
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

/** "Column: value" for each cell that has a value; a table's first column stands alone where its name says nothing. */
export function namedCells(header: readonly string[], cells: readonly string[]): string[] {
  return cells.map((cell, column) => {
    const name = header[column] ?? "";
    return cell === "" || name === "" || name === cell ? cell : `${name}: ${cell}`;
  });
}

import { getDocumentProxy } from "unpdf";
import { createBlockList, oneLine, titleCharactersMax, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { Block, ParsedDocument } from "#knowledge/documents/blocks.ts";
import type { Cell, Line } from "./pdf-tables.ts";
import { withTables } from "./pdf-tables.ts";

const pagesMax = 3_000;
const charactersMax = 20_000_000;
/** Text larger than most by this ratio is a heading. */
const headingRatio = 1.15;
const headingCharactersMax = 150;
const bullet = /^[•◦▪‣●○–·*-]\s+(\S.*)$/u;
const numbered = /^(\d{1,3})[.)]\s+(\S.*)$/u;

/** A wider space, in heights of the letters, divides the cells of a table. Those between words are a third of one. */
const cellGap = 1.2;

/**
 * Reads the text of a PDF: joins lines to paragraphs, takes larger type as headings, finds tables, and drops repeated
 * lines of pages.
 */
export async function parsePdf(bytes: Uint8Array): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes);
  if (pdf.numPages > pagesMax) {
    throw new UnreadableDocument(`The PDF has ${pdf.numPages} pages; ${pagesMax} can be read. Split it.`);
  }
  const pages: Line[][] = [];
  let characters = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const lines = await readPage(pdf, number);
    pages.push(lines);
    for (const { text } of lines) characters += text.length;
    if (characters > charactersMax) throw new UnreadableDocument("The PDF holds too much text. Split it.");
  }
  if (characters === 0) {
    throw new UnreadableDocument(
      "The PDF holds no text, only pictures of it, as a scanner makes them. Run text recognition (OCR) on it and add it again.",
    );
  }
  const blocks = blocksOf(withoutRunningLines(pages));
  return { title: await titleOf(pdf, blocks), blocks };
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(Uint8Array.from(bytes), {
      // Nothing in the file is run, fetched or drawn, and warnings are not printed.
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      verbosity: 0,
    });
  } catch (cause) {
    if (nameOf(cause) === "PasswordException") {
      throw new UnreadableDocument("The PDF is protected by a password. Save it without one and add it again.", {
        cause,
      });
    }
    throw damaged(cause);
  }
}

async function readPage(pdf: Pdf, number: number): Promise<Line[]> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return linesOf(items);
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw damaged(cause);
  }
}

function linesOf(items: readonly unknown[]): Line[] {
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
    addToCells(cells, item, e, height);
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

function addToCells(cells: Cell[], { str, width, fontName }: TextItem, left: number, height: number): void {
  const last = cells.at(-1);
  if (str.trim() === "") {
    // A space as wide as a gap is not counted, since the next text tells where it ends.
    if (last !== undefined) cells[cells.length - 1] = { ...last, text: `${last.text}${str}` };
    return;
  }
  const right = left + width;
  if (last === undefined || left - last.right > height * cellGap)
    cells.push({ text: str, left, right, font: fontName });
  else cells[cells.length - 1] = { ...last, text: `${last.text}${str}`, right: Math.max(last.right, right) };
}

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly fontName: string;
  readonly hasEOL: boolean;
}

function isText(item: unknown): item is TextItem {
  return typeof item === "object" && item !== null && "str" in item && typeof item.str === "string";
}

/** Removes headers and footers: lines that most pages repeat, apart from numbers. */
function withoutRunningLines(pages: readonly (readonly Line[])[]): Line[][] {
  const seen = new Map<string, number>();
  const keyOf = ({ text }: Line): string => text.replaceAll(/\d+/g, "0");
  const isEdge = (index: number, length: number): boolean => index < 2 || index >= length - 2;
  for (const lines of pages) {
    const edges = lines.filter((_, index) => isEdge(index, lines.length)).map(keyOf);
    for (const key of new Set(edges)) seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  const often = Math.max(3, pages.length * 0.5);
  return pages.map((lines) =>
    lines.filter((line, index) => {
      const edge = isEdge(index, lines.length);
      return !(edge && ((seen.get(keyOf(line)) ?? 0) >= often || /^\d{1,4}$/.test(line.text)));
    }),
  );
}

function blocksOf(pages: readonly (readonly Line[])[]): Block[] {
  const usual = usualSize(pages);
  const headingSizes = [...new Set(pages.flat().map(({ size }) => Math.round(size * 2) / 2))]
    .filter((size) => size >= usual * headingRatio)
    .toSorted((a, b) => b - a);
  const list = createBlockList();
  let open: { block: "paragraph" | "item" | "heading"; number: number | null; depth: number; text: string } | null =
    null;
  const flush = (): void => {
    if (open === null) return;
    const { block, number, depth } = open;
    const text = oneLine(open.text);
    if (block === "heading" && text.length <= headingCharactersMax) list.add({ kind: "heading", depth, text });
    else if (block === "item") list.add({ kind: "item", number, depth: 0, text });
    else list.add({ kind: "paragraph", text });
    open = null;
  };
  for (const lines of pages) {
    let before: Line | undefined;
    for (const part of withTables(lines)) {
      if ("rows" in part) {
        flush();
        for (const row of part.rows) list.add(row);
        before = part.lines.at(-1);
        continue;
      }
      const line = part;
      const size = Math.round(line.size * 2) / 2;
      const depth = size >= usual * headingRatio ? Math.min(4, headingSizes.indexOf(size) + 1) : 0;
      const step = numbered.exec(line.text);
      const dash = bullet.exec(line.text);
      const gap = before === undefined ? 0 : Math.abs(before.y - line.y);
      const parted = before !== undefined && gap > Math.max(before.size, line.size) * 1.7;
      const sameKind: boolean = open !== null && depth > 0 === (open.block === "heading") && depth === open.depth;
      // A sentence can continue on the next page.
      const goesOn: boolean = before !== undefined || (open !== null && !/[.!?:]$/.test(open.text.trim()));
      if (step !== null || dash !== null || parted || !sameKind || !goesOn) flush();
      if (open === null) {
        const item = depth === 0 && (step !== null || dash !== null);
        open = {
          block: depth > 0 ? "heading" : item ? "item" : "paragraph",
          number: item && step !== null ? Number(step[1]) : null,
          depth,
          text: item ? ((step?.[2] ?? dash?.[1]) as string) : line.text,
        };
      } else open.text = joined(open.text, line.text);
      before = line;
    }
  }
  flush();
  return [...list.blocks];
}

/** Words after a hyphen that stands for a left-out part: "Versand- und Packkosten". */
const afterLeftOut = /^(?:und|oder|bzw|sowie|and|or|en|of|et|ou|och|eller|og|y|e|o)(?![\p{L}\p{N}])/u;

/** Joins a word that was hyphenated at the end of a line. The hyphens of "E-Mail", "X-200" and "20-30" stay. */
function joined(text: string, next: string): string {
  if (/[\p{L}-]\/$/u.test(text)) return `${text}${next}`;
  if (/(?<![\p{L}\p{N}])\p{L}-$/u.test(text) || (/[\p{Lu}\p{N}]-$/u.test(text) && /^[\p{Lu}\p{N}]/u.test(next))) {
    return `${text}${next}`;
  }
  const isHyphenated = /\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(next) && !afterLeftOut.test(next);
  return isHyphenated ? `${text.slice(0, -1)}${next}` : `${text} ${next}`;
}

function usualSize(pages: readonly (readonly Line[])[]): number {
  const characters = new Map<number, number>();
  for (const { text, size } of pages.flat()) characters.set(size, (characters.get(size) ?? 0) + text.length);
  return [...characters].reduce((most, each) => (each[1] > most[1] ? each : most), [1, 0])[0];
}

async function titleOf(pdf: Pdf, blocks: readonly Block[]): Promise<string | null> {
  const first = blocks.find((block) => block.kind === "heading" && block.depth === 1);
  if (first?.kind === "heading") return first.text.slice(0, titleCharactersMax);
  let title: unknown;
  try {
    const { info } = await pdf.getMetadata();
    title = (info as { readonly Title?: unknown }).Title;
  } catch {
    // The metadata is optional.
    return null;
  }
  if (typeof title !== "string" || /^(?:microsoft word|untitled|\s*$)|\.(?:docx?|indd|pdf)$/i.test(title)) return null;
  return oneLine(title).slice(0, titleCharactersMax);
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

function damaged(cause: unknown): UnreadableDocument {
  return new UnreadableDocument(
    "The PDF is damaged, or was not transferred completely. Open it, save it again and add it again.",
    { cause },
  );
}

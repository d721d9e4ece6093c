import { getDocumentProxy } from "unpdf";
import { createBlockList, oneLine, titleCharactersMax, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { Block, ParsedDocument } from "#knowledge/documents/blocks.ts";
import { createJoinLines } from "./hyphens.ts";
import type { Line } from "./lines.ts";
import { linesOf } from "./lines.ts";
import type { Table } from "./tables.ts";
import { withTables } from "./tables.ts";

const pagesMax = 3_000;
const charactersMax = 20_000_000;
/** Text larger than most by this ratio is a heading. */
const headingRatio = 1.15;
const headingCharactersMax = 150;
const bullet = /^[•◦▪‣●○–·*-]\s+(\S.*)$/u;
const numbered = /^(\d{1,3})[.)]\s+(\S.*)$/u;

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
    const { items, styles } = await page.getTextContent();
    page.cleanup();
    const typewriters = Object.keys(styles).filter((font) => styles[font]?.fontFamily === "monospace");
    return linesOf(items, new Set(typewriters));
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw damaged(cause);
  }
}

/**
 * Removes headers and footers: lines that most pages repeat, apart from numbers. The header of a table is repeated, too:
 * it stands above cells.
 */
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
      const isRepeated = (seen.get(keyOf(line)) ?? 0) >= often && !isAboveCells(line, lines[index + 1]);
      return !(edge && (isRepeated || /^\d{1,4}$/.test(line.text)));
    }),
  );
}

const isAboveCells = ({ cells, text }: Line, next: Line | undefined): boolean =>
  cells.length > 1 &&
  !/\d/.test(text) &&
  next?.cells.length === cells.length &&
  next.cells.every(({ left, right }, index) => {
    const cell = cells[index];
    return cell !== undefined && left < cell.right && right > cell.left;
  });

function blocksOf(pages: readonly (readonly Line[])[]): Block[] {
  const usual = usualSize(pages);
  const headingSizes = [...new Set(pages.flat().map(({ size }) => Math.round(size * 2) / 2))]
    .filter((size) => size >= usual * headingRatio)
    .toSorted((a, b) => b - a);
  const list = createBlockList();
  let open: { block: "paragraph" | "item" | "heading"; number: number | null; depth: number; lines: string[] } | null =
    null;
  const flush = (): void => {
    if (open === null) return;
    const { block, number, depth } = open;
    const text = oneLine(join(open.lines));
    if (block === "heading" && text.length <= headingCharactersMax) list.add({ kind: "heading", depth, text });
    else if (block === "item") list.add({ kind: "item", number, depth: 0, text });
    else list.add({ kind: "paragraph", text });
    open = null;
  };
  const join = createJoinLines(pages.flat().map(({ text }) => text));
  let table: Table | undefined;
  for (const lines of pages) {
    let before: Line | undefined;
    const parts = withTables(lines, { join, before: table });
    table = undefined;
    for (const part of parts) {
      if ("rows" in part) {
        flush();
        for (const row of part.rows) list.add(row);
        before = lines[part.lines.at(-1) ?? 0];
        table = part;
        continue;
      }
      table = undefined;
      const line = part;
      const size = Math.round(line.size * 2) / 2;
      const depth = size >= usual * headingRatio ? Math.min(4, headingSizes.indexOf(size) + 1) : 0;
      const step = numbered.exec(line.text);
      const dash = bullet.exec(line.text);
      const gap = before === undefined ? 0 : Math.abs(before.y - line.y);
      const parted = before !== undefined && gap > Math.max(before.size, line.size) * 1.7;
      const sameKind: boolean = open !== null && depth > 0 === (open.block === "heading") && depth === open.depth;
      // A sentence can continue on the next page.
      const goesOn: boolean = before !== undefined || (open !== null && !/[.!?:]$/.test(open.lines.at(-1) ?? ""));
      if (step !== null || dash !== null || parted || !sameKind || !goesOn) flush();
      if (open === null) {
        const item = depth === 0 && (step !== null || dash !== null);
        open = {
          block: depth > 0 ? "heading" : item ? "item" : "paragraph",
          number: item && step !== null ? Number(step[1]) : null,
          depth,
          lines: [item ? ((step?.[2] ?? dash?.[1]) as string) : line.text],
        };
      } else open.lines.push(line.text);
      before = line;
    }
  }
  flush();
  return [...list.blocks];
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

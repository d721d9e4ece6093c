import type { Source } from "#domain/conversation/message.ts";
import type { Block, Cell, Inline } from "./markdown.ts";
import { safeHref, safeTree } from "./markdown.ts";

/** Text with marks on stretches of it: what chat platforms show, whichever way each of them writes it. */
export interface Run {
  readonly text: string;
  readonly styles: readonly Style[];
}

export type Style =
  | { readonly kind: "bold" | "italic" | "strike" | "code" | "pre" | "quote" }
  | { readonly kind: "link"; readonly href: string };

const bold: Style = { kind: "bold" };
const pre: Style = { kind: "pre" };

/** The message as a reader of a chat should see it: lists with signs, tables in columns, links that can be followed. */
export function styledText(markdown: string, sources: readonly Source[] = []): readonly Run[] {
  const runs = blockRuns(safeTree(markdown), []);
  const listed = sourceRuns(sources);
  return merged(listed.length === 0 ? runs : [...runs, plain("\n\n"), ...listed]);
}

const plain = (text: string, styles: readonly Style[] = []): Run => ({ text, styles });

/** Each document once, in the order of relevance: where it is, or what it is called. */
function sourceRuns(sources: readonly Source[]): Run[] {
  const documents = new Map<string, Run>();
  for (const { title, url } of sources) {
    const href = safeHref(url);
    const key = href ?? title;
    if (!documents.has(key))
      documents.set(key, plain(title || url, href === undefined ? [] : [{ kind: "link", href }]));
  }
  if (documents.size === 0) return [];
  return [
    plain("Sources:", [bold]),
    ...[...documents.values()].flatMap((run, index) => [plain(`\n${index + 1}. `), run]),
  ];
}

function blockRuns(blocks: readonly Block[], styles: readonly Style[]): Run[] {
  return blocks.flatMap((block, index) => [
    ...(index === 0 ? [] : [plain("\n\n", styles)]),
    ...blockRun(block, styles),
  ]);
}

function blockRun(block: Block, styles: readonly Style[]): Run[] {
  switch (block.t) {
    case "p":
      return inlineRuns(block.c, styles);
    case "h":
      return inlineRuns(block.c, [...styles, bold]);
    case "ul":
      return listRuns(block.items, () => "• ", styles);
    case "ol":
      return listRuns(block.items, (index) => `${block.start + index}. `, styles);
    case "quote":
      return blockRuns(block.c, [...styles, { kind: "quote" }]);
    case "pre":
      return [plain(block.text, [...styles, pre])];
    case "table":
      return [plain(tableText([block.head, ...block.rows]), [...styles, pre])];
    case "hr":
      return [plain("———", styles)];
  }
}

/** The content of a list entry is indented below it. */
function listRuns(
  items: readonly (readonly Block[])[],
  sign: (index: number) => string,
  styles: readonly Style[],
): Run[] {
  return items.flatMap((item, index) => {
    const lead = sign(index);
    const content = item.flatMap((block, at) => [
      ...(at === 0 ? [] : [plain("\n", styles)]),
      ...blockRun(block, styles),
    ]);
    const indented = content.map(({ text, styles: own }) =>
      plain(text.replaceAll("\n", `\n${" ".repeat(lead.length)}`), own),
    );
    return [plain(index === 0 ? lead : `\n${lead}`, styles), ...indented];
  });
}

function inlineRuns(inlines: readonly Inline[], styles: readonly Style[]): Run[] {
  return inlines.flatMap((inline): Run[] => {
    if (typeof inline === "string") return [plain(inline, styles)];
    switch (inline.t) {
      case "b":
        return inlineRuns(inline.c, [...styles, bold]);
      case "i":
        return inlineRuns(inline.c, [...styles, { kind: "italic" }]);
      case "s":
        return inlineRuns(inline.c, [...styles, { kind: "strike" }]);
      case "code":
        return [plain(inline.text, [...styles, { kind: "code" }])];
      case "br":
        return [plain("\n", styles)];
      case "a":
        return inlineRuns(inline.c, [...styles, { kind: "link", href: inline.href }]);
    }
  });
}

const cellText = (cell: Cell): string =>
  withAddresses(inlineRuns(cell, []))
    .map(({ text }) => text.replaceAll("\n", " "))
    .join("");

/** Columns of even width, as long as a phone could show them; else the cells as they come. */
const tableWidthMax = 60;

function tableText(rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(cellText));
  const columns = Math.max(0, ...texts.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...texts.map((row) => (row[at] ?? "").length)));
  const fits = widths.reduce((sum, width) => sum + width + 3, 0) <= tableWidthMax;
  return texts
    .map((row) =>
      row
        .map((text, at) => (fits ? text.padEnd(widths[at] ?? 0) : text))
        .join(" | ")
        .trimEnd(),
    )
    .join("\n");
}

/** Neighbours of the same style as one; nothing empty. */
function merged(runs: readonly Run[]): Run[] {
  const result: Run[] = [];
  for (const run of runs) {
    if (run.text === "") continue;
    const last = result.at(-1);
    if (last !== undefined && sameStyles(last.styles, run.styles))
      result[result.length - 1] = plain(last.text + run.text, last.styles);
    else result.push(run);
  }
  return result;
}

function sameStyles(a: readonly Style[], b: readonly Style[]): boolean {
  return a.length === b.length && a.every((style, at) => styleKey(style) === styleKey(b[at]));
}

const styleKey = (style: Style | undefined): string =>
  style === undefined ? "" : style.kind === "link" ? `link ${style.href}` : style.kind;

/** Best place first: between paragraphs, lines, sentences, words. Each is a place right after the match. */
const borders: readonly RegExp[] = [/\n\n/g, /\n/g, /[.!?…。！？] /g, /\s/g];
/** A border is worth to be taken when what stands before it fills at least this share of a message. */
const filledMin = 0.4;

/**
 * The text in pieces that hold at most `max`, by `sizeOf` (of a stretch of text as the platform counts it, escapes
 * included), without an end of space. No sign is cut in two, and nothing is lost but space between two pieces. `lengthOf`:
 * the characters that a piece may have for another reason than its size, where those are fewer.
 */
export function splitRuns(
  runs: readonly Run[],
  max: number,
  sizeOf: (text: string) => number = (text) => text.length,
  lengthOf: (piece: readonly Run[]) => number = () => Infinity,
): readonly (readonly Run[])[] {
  const pieces: (readonly Run[])[] = [];
  let rest = runs;
  for (;;) {
    rest = trimmedStart(rest);
    if (rest.length === 0) return pieces;
    let [piece, after] = cutAt(rest, lengthThatFits(rest, max, sizeOf));
    const length = lengthOf(piece);
    if (length < textOf(piece).length) [piece, after] = cutAt(rest, length);
    const kept = trimmedEnd(piece);
    if (kept.length > 0) pieces.push(kept);
    rest = after;
  }
}

/** The best place to cut that leaves no more than `room` characters before it. */
function cutAt(runs: readonly Run[], room: number): readonly [Run[], Run[]] {
  const text = textOf(runs);
  return cut(runs, room >= text.length ? text.length : placeToCut(text, room));
}

/**
 * Returns the runs for text without links: each address follows the linked text, which may have marks within, unless the
 * text is the address. `isOnlyText`: whether a link has to be shown so.
 */
export function withAddresses(
  runs: readonly Run[],
  isOnlyText: (href: string) => boolean = () => true,
): readonly Run[] {
  const hrefOf = (run: Run | undefined): string | undefined =>
    run?.styles.flatMap((style) => (style.kind === "link" && isOnlyText(style.href) ? [style.href] : []))[0];
  let shown = "";
  return runs.map((run, at) => {
    const href = hrefOf(run);
    const styles = href === undefined ? run.styles : run.styles.filter(({ kind }) => kind !== "link");
    shown = href !== undefined && href === hrefOf(runs[at - 1]) ? shown + run.text : run.text;
    if (href === undefined || href === hrefOf(runs[at + 1])) return { text: run.text, styles };
    const address = href.replace(/^mailto:/, "");
    const says = [href, address, address.replace(/\/$/, "")].includes(shown.trim());
    return { text: says ? run.text : `${run.text} (${address})`, styles };
  });
}

/** The runs for platforms that show no quotes: `> ` before each quoted line, as mail programs write. */
export function withQuoteMarks(runs: readonly Run[]): readonly Run[] {
  let isLineStart = true;
  return runs.flatMap(({ text, styles }) => {
    const others = styles.filter(({ kind }) => kind !== "quote");
    const mark = plain("> ".repeat(styles.length - others.length));
    return text.split(/(?<=\n)/).flatMap((line) => {
      const isMarked = isLineStart && mark.text !== "";
      isLineStart = line.endsWith("\n");
      return [...(isMarked ? [mark] : []), plain(line, others)];
    });
  });
}

export const textOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join("");

/** How many UTF-16 units from the beginning fit. At least one sign, so that it ends. */
function lengthThatFits(runs: readonly Run[], max: number, sizeOf: (text: string) => number): number {
  let size = 0;
  let length = 0;
  for (const { text } of runs) {
    // No platform counts a text as shorter than it is, so that what is far too long need not be counted.
    const whole = size + text.length > max ? Infinity : sizeOf(text);
    if (size + whole <= max) {
      size += whole;
      length += text.length;
      continue;
    }
    // Includes the whole character after the last place: half a character would not be recognised as one.
    for (const { segment } of graphemes.segment(text.slice(0, max - size + 2))) {
      const own = sizeOf(segment);
      if (size + own > max) {
        if (length > 0) return length;
        // One sign of more than a whole message: cut where it at least stays well-formed.
        return max - (isHighSurrogate(segment.charCodeAt(max - 1)) ? 1 : 0);
      }
      size += own;
      length += segment.length;
    }
    return length;
  }
  return length;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

const isHighSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdb_ff;

function placeToCut(text: string, room: number): number {
  const head = text.slice(0, room + 1);
  for (const border of borders) {
    let last = -1;
    for (const match of head.matchAll(border)) {
      const end = match.index + match[0].length;
      if (end <= room) last = end;
    }
    if (last >= room * filledMin) return last;
  }
  return room;
}

function cut(runs: readonly Run[], at: number): readonly [Run[], Run[]] {
  const before: Run[] = [];
  const after: Run[] = [];
  let position = 0;
  for (const { text, styles } of runs) {
    const split = Math.min(Math.max(at - position, 0), text.length);
    if (split > 0) before.push(plain(text.slice(0, split), styles));
    if (split < text.length) after.push(plain(text.slice(split), styles));
    position += text.length;
  }
  return [before, after];
}

function trimmedStart(runs: readonly Run[]): readonly Run[] {
  const [first, ...rest] = runs;
  if (first === undefined) return runs;
  // Within code, space at the beginning of a line means something.
  const text = first.styles.some(({ kind }) => kind === "pre")
    ? first.text.replace(/^\n+/, "")
    : first.text.trimStart();
  if (text === first.text) return runs;
  return text === "" ? trimmedStart(rest) : [plain(text, first.styles), ...rest];
}

function trimmedEnd(runs: readonly Run[]): readonly Run[] {
  const last = runs.at(-1);
  if (last === undefined) return runs;
  const text = last.text.trimEnd();
  if (text === last.text) return runs;
  const rest = runs.slice(0, -1);
  return text === "" ? trimmedEnd(rest) : [...rest, plain(text, last.styles)];
}

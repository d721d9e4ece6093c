/** A stretch of Markdown that can be parsed on its own. */
export interface MarkdownPart {
  readonly text: string;
  /** The parser would take too long for it, so it is shown as the text that it is. */
  readonly isPlain: boolean;
}

interface Extent {
  readonly lines: number;
  readonly marks: number;
  readonly characters: number;
}

/** A part of this extent ends at the next border of blocks. */
const wanted: Extent = { lines: 100, marks: 1_000, characters: 4_000 };
/** No real message has that many marks, and the parser takes quadratic time over some of them. */
export const marksMax = 2_500;
/** A part of this extent ends at the next line that is not indented, and one of twice this extent at any line. */
const most: Extent = { lines: 300, marks: marksMax, characters: 8_000 };
/** Head rows longer than this are not repeated above the second part of a table. */
const headMax = 2_000;
const labelMax = 200;
const definitionMax = 1_000;

/**
 * Cuts Markdown into parts that are parsed one by one: the parser takes quadratic time over many lines and over many
 * marks. A short text is one part. A part begins where every block before it has ended, if such a place comes in time.
 * Definitions of links are repeated in each part that refers to them, and with `repeatHeads` the head of a table in each
 * part of it.
 */
export function markdownParts(
  markdown: string,
  { repeatHeads = false }: { readonly repeatHeads?: boolean } = {},
): readonly MarkdownPart[] {
  const lines = markdown.split(/\r\n?|\n/);
  const parts: MarkdownPart[] = [];
  let held: string[] = [];
  let extent: Extent = nothing;
  let block: string[] = [];
  let listing: RegExp | undefined;
  const end = (head: readonly string[] = []): void => {
    if (held.length > 0) parts.push({ text: held.join("\n"), isPlain: false });
    held = [...head];
    extent = nothing;
  };
  for (const line of lines) {
    const own: Extent = { lines: 1, marks: marksIn(line), characters: line.length };
    if (listing === undefined && (fills(own, most) || opensTooMany(line))) {
      end();
      parts.push({ text: line, isPlain: true });
      block = [];
      continue;
    }
    if (listing !== undefined) {
      held.push(line);
      if (listing.test(line)) listing = undefined;
      continue;
    }
    if (fills(extent, wanted) && block.length === 0 && endsAllBefore(line)) end();
    const reach = sum(extent, own);
    if (fills(reach, most) && (/^\S/u.test(line) || fills(reach, sum(most, most))))
      end(repeatHeads ? tableHead(block) : []);
    held.push(line);
    extent = sum(extent, own);
    listing = endOfListing(line);
    if (line.trim() === "") block = [];
    else if (block.length < 2) block.push(line);
  }
  end();
  return parts.length < 2 ? parts : withDefinitions(parts, lines);
}

const nothing: Extent = { lines: 0, marks: 0, characters: 0 };

const sum = (a: Extent, b: Extent): Extent => ({
  lines: a.lines + b.lines,
  marks: a.marks + b.marks,
  characters: a.characters + b.characters,
});

const fills = (extent: Extent, limit: Extent): boolean =>
  extent.lines > limit.lines || extent.marks > limit.marks || extent.characters > limit.characters;

const markCharacters = new Set("`()<>&|#-+!\\@=");
/** The parser looks back over all brackets that are still open, and over all signs of emphasis without a counterpart. */
const weights: ReadonlyMap<string, number> = new Map([
  ["[", 4],
  ["]", 2],
  ["*", 2],
  ["_", 2],
  ["~", 2],
]);

/** How much of the text may cost the parser quadratic time: {@link marksMax} is the most that is parsed at once. */
export function marksIn(text: string): number {
  let marks = 0;
  for (const character of text) {
    marks += weights.get(character) ?? (markCharacters.has(character) ? 1 : 0);
  }
  return marks;
}

/** Each container that a line opens costs the parser a pass over those around it, and its stack has an end. */
function opensTooMany(line: string): boolean {
  // Each round begins with what no round ends with: nothing to go back over, however hostile the line.
  return /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){40}/u.test(line);
}

/** Whether a line that follows an empty line continues no list, no quotation and no indented block. */
const endsAllBefore = (line: string): boolean => /^[^\s\-*+\d>]/u.test(line);

/** The line that ends the listing, comment or raw HTML which this line begins. */
function endOfListing(line: string): RegExp | undefined {
  const fence = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/u.exec(line);
  const sign = fence?.[1] ?? fence?.[2];
  if (sign !== undefined) return new RegExp(`^[ \\t]*${sign}+[ \\t]*$`, "u");
  if (/^ {0,3}<!--(?!.*-->)/u.test(line)) return /-->/u;
  if (/^ {0,3}<(?:script|pre|style|textarea)\b(?!.*<\/(?:script|pre|style|textarea)>)/iu.test(line))
    return /<\/(?:script|pre|style|textarea)>/iu;
  return undefined;
}

/** The two lines that make a table of those below them. */
function tableHead([first, second]: readonly string[]): readonly string[] {
  if (first === undefined || second === undefined || !/^[ \t|:-]+$/u.test(second) || !second.includes("-")) return [];
  return second.includes("|") && first.length + second.length <= headMax ? [first, second] : [];
}

function withDefinitions(parts: readonly MarkdownPart[], lines: readonly string[]): readonly MarkdownPart[] {
  const definitions = new Map<string, string>();
  for (const line of lines) {
    const label = line.length > definitionMax ? undefined : definitionOf.exec(line)?.[1];
    if (label !== undefined && !definitions.has(keyOf(label))) definitions.set(keyOf(label), line);
  }
  if (definitions.size === 0) return parts;
  return parts.map((part) => {
    if (part.isPlain) return part;
    const named = new Set<string>();
    for (const [, label = ""] of part.text.matchAll(labels)) {
      const line = definitions.get(keyOf(label));
      if (line !== undefined) named.add(line);
    }
    return named.size === 0 ? part : { ...part, text: `${[...named].join("\n")}\n\n${part.text}` };
  });
}

const labelSource = String.raw`\[((?!\^)(?:[^[\]\\]|\\.){1,${labelMax}})\]`;
const definitionOf = new RegExp(String.raw`^ {0,3}${labelSource}:[ \t]*\S`, "u");
const labels = new RegExp(labelSource, "gu");

const keyOf = (label: string): string => label.trim().replaceAll(/\s+/gu, " ").toLowerCase();

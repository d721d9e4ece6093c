import type { Block } from "#knowledge/documents/blocks.ts";
import { linkMark } from "#knowledge/documents/blocks.ts";
import type { Mark } from "./page-parts.ts";

/** A block with this many words reads as prose. */
const proseWordsMin = 5;
/** A block with this many words, or letters of scripts without spaces, says more than a label or a prompt. */
const longWordsMin = 12;
const longLettersMin = 30;
/** The share of the marked text that is the text of the article. */
const bodyShareMin = 0.6;
const articleShareMin = 0.8;

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** An article, or the text of one. */
export interface Body extends Range {
  readonly mark: Mark;
}

export const charactersIn = (blocks: readonly Block[]): number =>
  blocks.reduce((sum, block) => sum + (block.kind === "row" ? block.cells.join("").length : block.text.length), 0);

export function isProse(block: Block): boolean {
  const text = textOf(block);
  if (block.kind === "heading" || text.startsWith(linkMark)) return false;
  return (
    text.endsWith("?") || block.kind === "code" || text.split(" ").length >= proseWordsMin || /\p{Lo}{10}/u.test(text)
  );
}

export function isLongText(block: Block): boolean {
  const text = textOf(block);
  if (block.kind === "heading" || text.startsWith(linkMark)) return false;
  return text.split(" ").length >= longWordsMin || text.replaceAll(/\P{Lo}/gu, "").length >= longLettersMin;
}

export const textOf = (block: Block): string => (block.kind === "row" ? block.cells.join(" ") : block.text);

/**
 * The index after the last block of the content. After the text of a page's only article come votes, links to others and
 * the like; it ends the content, unless something below it reads as text or as questions.
 */
export function endsWithBody(
  blocks: readonly Block[],
  bodies: readonly Body[],
  isMarked: (index: number) => boolean,
): number {
  const named = outermost(bodies.filter(({ mark }) => mark === "body"));
  const [body, ...more] = named.length > 0 ? named : outermost(bodies);
  if (body === undefined || more.length > 0) return blocks.length;
  const marked = blocks.filter((_, index) => isMarked(index));
  const within = blocks.filter((_, index) => index >= body.start && index < body.end && isMarked(index));
  const shareMin = body.mark === "body" ? bodyShareMin : articleShareMin;
  if (charactersIn(within) < charactersIn(marked) * shareMin) return blocks.length;
  const below = blocks.filter((_, index) => index >= body.end && isMarked(index));
  const questions = below.filter((block) => block.kind === "heading" && /[?？؟]$/u.test(block.text));
  return below.some(isLongText) || questions.length > 1 ? blocks.length : body.end;
}

/** `bodies` in the order of their ends, so that an outer one comes after those within. */
function outermost(bodies: readonly Body[]): readonly Body[] {
  const found: Body[] = [];
  let start = Number.POSITIVE_INFINITY;
  for (const body of bodies.toReversed()) {
    if (body.end === body.start || body.end > start) continue;
    found.push(body);
    start = body.start;
  }
  return found;
}

/**
 * Some pages have their heading above what they mark as content. The page's title distinguishes it from the name of the
 * site, which is above the content, too.
 */
export function withHeading(marked: readonly Block[], all: readonly Block[], pageTitle: string): readonly Block[] {
  const isTitle = (block: Block): boolean =>
    block.kind === "heading" && block.text.length > 1 && pageTitle.toLowerCase().includes(block.text.toLowerCase());
  if (marked.some(isTitle)) return marked;
  const [first] = marked;
  const above = all.slice(0, first === undefined ? 0 : all.indexOf(first));
  const heading = above.findLast((block) => block.kind === "heading" && block.depth === 1 && isTitle(block));
  return heading === undefined ? marked : [heading, ...marked];
}

import type { Block } from "#knowledge/documents/blocks.ts";
import { createBlockList, linkMark } from "#knowledge/documents/blocks.ts";
import type { Part } from "./page-parts.ts";

/** Content that a page marks is trusted when it has this many characters, or half of the page. */
const markedCharactersMin = 200;
/** A part of the page with this many links, and this share of its letters in them, is a list of links. */
const linksMin = 4;
const linkShareMin = 0.6;
/** A block with this many words reads as prose. */
const proseWordsMin = 5;
/** A form that holds less is one that is filled in. */
const formLettersMin = 200;

/** Letters and links of an open element, with those of its closed children. */
interface OpenElement {
  readonly isContent: boolean;
  readonly part: Part;
  /** Index of its first block. */
  readonly start: number;
  letters: number;
  linkLetters: number;
  links: number;
  /** Fields that are filled in. */
  fields: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Collects blocks, and decides which of them are the content of the page: the elements marked as such, or else
 * everything but lists of links, which lead to other pages and answer nothing.
 */
export function createPageContent() {
  const all = createBlockList();
  /** Whether each block is within an element that is marked as content. */
  const isMarked: boolean[] = [];
  let markedDepth = 0;
  const elements: OpenElement[] = [];
  const linkLists: Range[] = [];
  const dropped: Range[] = [];

  return {
    add(block: Block): void {
      all.add(block);
      while (isMarked.length < all.blocks.length) isMarked.push(markedDepth > 0);
    },
    open(isContent: boolean, part: Part, links: number): void {
      if (isContent) markedDepth += 1;
      const counts = { letters: 0, linkLetters: 0, links, fields: 0 };
      elements.push({ isContent, part, start: all.blocks.length, ...counts });
    },
    addLetters(letters: number, isLinked: boolean): void {
      const element = elements.at(-1);
      if (element === undefined) return;
      element.letters += letters;
      if (isLinked) element.linkLetters += letters;
    },
    addField(): void {
      const element = elements.at(-1);
      if (element !== undefined) element.fields += 1;
    },
    isInContent: (): boolean => markedDepth > 0,
    innermost: (): Pick<OpenElement, "isContent" | "part"> | undefined => elements.at(-1),
    close(): void {
      const element = elements.pop();
      if (element === undefined) return;
      if (element.isContent) markedDepth -= 1;
      const range = { start: element.start, end: all.blocks.length };
      if (!isRead(element, all.blocks.slice(range.start))) {
        dropped.push(range);
        return;
      }
      if (element.links >= linksMin && element.linkLetters >= element.letters * linkShareMin) {
        // A list of links does not count for the element around it.
        linkLists.push(range);
        return;
      }
      const parent = elements.at(-1);
      if (parent === undefined) return;
      parent.letters += element.letters;
      parent.linkLetters += element.linkLetters;
      parent.links += element.links;
      parent.fields += element.fields;
    },
    blocks(): readonly Block[] {
      const isLeft = without(all.blocks.length, dropped);
      const kept = all.blocks.filter((_, index) => isLeft[index] === 1);
      const marked = all.blocks.filter((_, index) => isLeft[index] === 1 && isMarked[index] === true);
      const [markedCharacters, characters] = [charactersIn(marked), charactersIn(kept)];
      const isTrusted = markedCharacters >= markedCharactersMin || markedCharacters * 2 >= characters;
      if (isTrusted && marked.length > 0) return marked;
      const isText = without(all.blocks.length, [...dropped, ...linkLists]);
      const text = all.blocks.filter((_, index) => isText[index] === 1);
      // A page that holds nothing but lists of links is taken as it is.
      return text.some((block) => block.kind !== "heading") ? text : kept;
    },
  };
}

/** Whether a doubtful part is content: it reads as prose, a question or a warning, and is not filled in. */
function isRead({ part, letters, linkLetters, fields }: OpenElement, blocks: readonly Block[]): boolean {
  switch (part) {
    case "form":
      return letters >= formLettersMin || blocks.some(({ kind }) => kind === "heading");
    case "aside":
    case "hidden":
      return fields === 0 && linkLetters * 2 <= letters && blocks.some(isProse);
    default:
      return true;
  }
}

function isProse(block: Block): boolean {
  const text = block.kind === "row" ? block.cells.join(" ") : block.text;
  if (block.kind === "heading" || text.startsWith(linkMark)) return false;
  return (
    text.endsWith("?") || block.kind === "code" || text.split(" ").length >= proseWordsMin || /\p{Lo}{10}/u.test(text)
  );
}

function without(length: number, ranges: readonly Range[]): Uint8Array {
  const isLeft = new Uint8Array(length).fill(1);
  for (const { start, end } of ranges) isLeft.fill(0, start, end);
  return isLeft;
}

const charactersIn = (blocks: readonly Block[]): number => blocks.reduce((sum, block) => sum + charactersOf(block), 0);

const charactersOf = (block: Block): number => (block.kind === "row" ? block.cells.join("").length : block.text.length);

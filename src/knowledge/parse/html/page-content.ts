import type { Block } from "#knowledge/documents/blocks.ts";
import { createBlockList } from "#knowledge/documents/blocks.ts";

/** Content that a page marks is trusted when it has this many characters, or half of the page. */
const markedCharactersMin = 200;
/** A part of the page with this many links, and this share of its letters in them, is a list of links. */
const linksMin = 4;
const linkShareMin = 0.6;

/** Letters and links of an open element, with those of its closed children. */
interface OpenElement {
  readonly isContent: boolean;
  /** Index of its first block. */
  readonly start: number;
  letters: number;
  linkLetters: number;
  links: number;
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
  const marked = createBlockList();
  let markedCharacters = 0;
  let markedDepth = 0;
  const elements: OpenElement[] = [];
  const linkLists: Range[] = [];

  return {
    add(block: Block): void {
      all.add(block);
      if (markedDepth === 0) return;
      marked.add(block);
      markedCharacters += charactersOf(block);
    },
    open(isContent: boolean, links: number): void {
      if (isContent) markedDepth += 1;
      elements.push({ isContent, start: all.blocks.length, letters: 0, linkLetters: 0, links });
    },
    addLetters(letters: number, isLinked: boolean): void {
      const element = elements.at(-1);
      if (element === undefined) return;
      element.letters += letters;
      if (isLinked) element.linkLetters += letters;
    },
    innermostMarksContent: (): boolean => elements.at(-1)?.isContent === true,
    close(): void {
      const element = elements.pop();
      if (element === undefined) return;
      if (element.isContent) markedDepth -= 1;
      if (element.links >= linksMin && element.linkLetters >= element.letters * linkShareMin) {
        // A list of links does not count for the element around it.
        linkLists.push({ start: element.start, end: all.blocks.length });
        return;
      }
      const parent = elements.at(-1);
      if (parent === undefined) return;
      parent.letters += element.letters;
      parent.linkLetters += element.linkLetters;
      parent.links += element.links;
    },
    blocks(): readonly Block[] {
      const isTrusted =
        markedCharacters >= markedCharactersMin ||
        markedCharacters * 2 >= all.blocks.reduce((sum, block) => sum + charactersOf(block), 0);
      return isTrusted && marked.blocks.length > 0 ? marked.blocks : withoutLinkLists(all.blocks, linkLists);
    },
  };
}

/** A page that holds nothing but lists of links is taken as it is. */
function withoutLinkLists(blocks: readonly Block[], linkLists: readonly Range[]): readonly Block[] {
  const isLeft = new Uint8Array(blocks.length).fill(1);
  for (const { start, end } of linkLists) isLeft.fill(0, start, end);
  const left = blocks.filter((_, index) => isLeft[index] === 1);
  return left.some((block) => block.kind !== "heading") ? left : blocks;
}

const charactersOf = (block: Block): number => (block.kind === "row" ? block.cells.join("").length : block.text.length);

import type { Block } from "#knowledge/documents/blocks.ts";
import { createBlockList } from "#knowledge/documents/blocks.ts";
import { charactersIn, endsWithBody, isLongText, isProse, textOf, withHeading } from "./page-choice.ts";
import type { Body, Range } from "./page-choice.ts";
import type { Mark, Part } from "./page-parts.ts";

/** Content that a page marks is trusted when it has this many characters, or half of the page. */
const markedCharactersMin = 200;
/** A part of the page with this many links, and this share of its letters in them, is a list of links. */
const linksMin = 4;
const linkShareMin = 0.6;
/** A bar of links is shorter, and holds nothing else. */
const linkBarMin = 3;
/** Fewer links lead to the pages before and after. */
const neighboursMin = 2;
/** A form that holds less is one that is filled in. */
const formLettersMin = 200;

/** Letters and links of an open element, with those of its closed children. */
interface OpenElement {
  readonly mark: Mark;
  readonly part: Part;
  /** Index of its first block. */
  readonly start: number;
  /** The button directly above opens it. */
  readonly isPanel: boolean;
  letters: number;
  linkLetters: number;
  links: number;
  /** Fields that are filled in. */
  fields: number;
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
  /** Index of the block of the last button that opens something. */
  let opener = -1;
  const linkLists: Range[] = [];
  const dropped: Range[] = [];
  const neighbours: Range[] = [];
  const bodies: Body[] = [];

  return {
    add(block: Block): void {
      all.add(block);
      while (isMarked.length < all.blocks.length) isMarked.push(markedDepth > 0);
    },
    open(mark: Mark, part: Part, links: number): void {
      if (mark !== "none") markedDepth += 1;
      const counts = { letters: 0, linkLetters: 0, links, fields: 0 };
      const start = all.blocks.length;
      const isPanel = opener >= 0 && opener === start - 1 && all.blocks[opener]?.kind === "heading";
      elements.push({ mark, part, start, isPanel, ...counts });
    },
    addOpener(): void {
      opener = all.blocks.length;
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
    innermost: (): Pick<OpenElement, "mark" | "part"> | undefined => elements.at(-1),
    /** `isPending`: its text is part of a block that goes on, as in a `font` or a `span`. */
    close(isPending: boolean): void {
      const element = elements.pop();
      if (element === undefined) return;
      if (element.mark !== "none") markedDepth -= 1;
      const range = { start: element.start, end: all.blocks.length };
      const blocks = (): readonly Block[] => all.blocks.slice(range.start);
      if (element.mark === "body" || element.mark === "article") bodies.push({ ...range, mark: element.mark });
      if (!isRead(element, blocks)) {
        dropped.push(range);
        return;
      }
      if (!isPending && isLinkList(element, blocks)) {
        // A list of links does not count for the element around it.
        linkLists.push(range);
        return;
      }
      if (areNeighbours(element, blocks)) neighbours.push(range);
      const parent = elements.at(-1);
      if (parent === undefined) return;
      parent.letters += element.letters;
      parent.linkLetters += element.linkLetters;
      parent.links += element.links;
      parent.fields += element.fields;
    },
    /** `pageTitle`: the title in the page's head, which shows the heading of the content. */
    blocks(pageTitle: string): readonly Block[] {
      const lastText = all.blocks.findLastIndex((block) => block.kind === "heading" || isLongText(block));
      // Links that no text announces, below all text, lead to the pages before and after.
      const endings = neighbours.filter(({ start }) => start > lastText && !isAnnouncing(all.blocks[start - 1]));
      const isLeft = without(all.blocks.length, [...dropped, ...endings]);
      const end = endsWithBody(all.blocks, bodies, (index) => isLeft[index] === 1 && isMarked[index] === true);
      const kept = all.blocks.filter((_, index) => isLeft[index] === 1);
      const marked = all.blocks.filter((_, index) => index < end && isLeft[index] === 1 && isMarked[index] === true);
      const [markedCharacters, characters] = [charactersIn(marked), charactersIn(kept)];
      const isTrusted = markedCharacters >= markedCharactersMin || markedCharacters * 2 >= characters;
      if (isTrusted && marked.length > 0) return withHeading(marked, kept, pageTitle);
      const isText = without(all.blocks.length, [...dropped, ...endings, ...linkLists]);
      const text = all.blocks.filter((_, index) => isText[index] === 1);
      // A page that holds nothing but lists of links is taken as it is.
      return text.some((block) => block.kind !== "heading") ? text : kept;
    },
  };
}

function isLinkList({ links, letters, linkLetters }: OpenElement, blocks: () => readonly Block[]): boolean {
  if (links >= linksMin && linkLetters >= letters * linkShareMin) return true;
  // Rows end after their cells, so cells cannot be distinguished from the text around them.
  const isLine = links >= linkBarMin && linkLetters === letters;
  return isLine && blocks().every((block) => block.kind === "paragraph" || block.kind === "item");
}

/** Two links or three alone in one element. */
const areNeighbours = ({ links, letters, linkLetters, mark }: OpenElement, blocks: () => readonly Block[]): boolean =>
  links >= neighboursMin &&
  links <= linkBarMin &&
  mark === "none" &&
  linkLetters === letters &&
  blocks().length > 0 &&
  blocks().every(({ kind }) => kind === "paragraph");

const isAnnouncing = (block: Block | undefined): boolean =>
  block === undefined || block.kind === "heading" || textOf(block).endsWith(":");

/** Whether a doubtful part is content: it reads as prose, a question or a warning, and is not filled in. */
function isRead({ part, letters, linkLetters, fields, isPanel }: OpenElement, blocks: () => readonly Block[]): boolean {
  switch (part) {
    case "form":
      return (
        letters >= formLettersMin ||
        blocks().some(({ kind }) => kind === "heading") ||
        (fields === 0 && blocks().some(isProse))
      );
    case "aside":
    case "hidden":
      // A panel may hold a short answer: "4 euros".
      return fields === 0 && linkLetters * 2 <= letters && (isPanel || blocks().some(isProse));
    case "header":
      return blocks().some((block) => block.kind === "heading" || isProse(block));
    case "prompt":
      return fields === 0 && blocks().some(isLongText);
    default:
      return true;
  }
}

function without(length: number, ranges: readonly Range[]): Uint8Array {
  const isLeft = new Uint8Array(length).fill(1);
  for (const { start, end } of ranges) isLeft.fill(0, start, end);
  return isLeft;
}

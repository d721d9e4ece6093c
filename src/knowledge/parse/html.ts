import { Parser } from "htmlparser2";
import {
  createBlockList,
  createDepthGuard,
  describePictures,
  linkMark,
  markPicture,
  namedCells,
  oneLine,
} from "#knowledge/documents/blocks.ts";
import type { Block, ParsedDocument } from "#knowledge/documents/blocks.ts";
import type { Frame } from "./page-parts.ts";
import { isBesideContent, isContent, isLinkList } from "./page-parts.ts";

const blockTags = new Set(
  "address article blockquote body caption center dd details div dl fieldset figcaption figure hgroup hr html legend main p section".split(
    " ",
  ),
);
const columnsMax = 200;
const listDepthMax = 4;

interface OpenList {
  readonly ordered: boolean;
  next: number;
}

interface OpenTable {
  header: string[];
  cells: string[];
  headerCells: number;
}

/**
 * HTML of any quality; never throws on malformed markup. Navigation, forms, scripts and the like are dropped; where the
 * page marks its content (`main`, `article`, a usual class), only that is taken, and elsewhere no part that is mostly
 * links. Works on the stream of tags.
 */
export function parseHtml(source: string): ParsedDocument {
  const everything = createBlockList();
  const content = createBlockList();
  let contentCharacters = 0;
  let contentDepth = 0;
  let dropDepth = 0;
  let pageTitle = "";
  let inTitle = false;
  let text = "";
  let boldText = 0;
  let bold = 0;
  let linkText = 0;
  let linked = 0;
  let heading = 0;
  let pre = 0;
  const lists: OpenList[] = [];
  let item: { readonly number: number | null; readonly depth: number } | null = null;
  const tables: OpenTable[] = [];
  let cell = false;
  const depth = createDepthGuard();
  const frames: Frame[] = [];
  /** Ranges of blocks that are lists of links. */
  const linkLists: { readonly start: number; readonly end: number }[] = [];

  const add = (block: Block): void => {
    everything.add(block);
    if (contentDepth === 0) return;
    content.add(block);
    contentCharacters += block.kind === "row" ? block.cells.join("").length : block.text.length;
  };
  const flush = (): void => {
    if (cell) return;
    const raw = text;
    const described = describePictures(text);
    text = "";
    const allBold = boldText > 0 && boldText >= raw.trim().length;
    boldText = 0;
    if (pre > 0) {
      add({ kind: "code", text: raw.replaceAll(/^\n+|\s+$/g, "") });
      return;
    }
    const allLinked = linkText > 0 && linkText >= raw.replaceAll(/[\s\p{P}]/gu, "").length;
    linkText = 0;
    const line = `${allLinked ? linkMark : ""}${oneLine(described)}`;
    if (oneLine(described) === "") return;
    if (heading > 0) add({ kind: "heading", depth: heading, text: oneLine(described) });
    else if (item !== null) {
      add({ kind: "item", number: item.number, depth: item.depth, text: line });
      item = null;
    } else if (allBold && line.length <= 120 && lists.length === 0) add({ kind: "heading", depth: 6, text: line });
    else if (allLinked) add({ kind: "paragraph", text: line });
    else for (const part of described.split("\u2028")) add({ kind: "paragraph", text: oneLine(part) });
  };
  const closeCell = (): void => {
    if (!cell) return;
    cell = false;
    const table = tables.at(-1);
    if (table !== undefined && table.cells.length < columnsMax) table.cells.push(oneLine(describePictures(text)));
    text = "";
    linkText = 0;
    boldText = 0;
  };
  const closeRow = (): void => {
    closeCell();
    const table = tables.at(-1);
    if (table === undefined || table.cells.length === 0) return;
    if (table.header.length === 0 && table.headerCells === table.cells.length) table.header = table.cells;
    else add({ kind: "row", cells: namedCells(table.header, table.cells) });
    table.cells = [];
    table.headerCells = 0;
  };

  const leave = (frame: Frame | undefined): void => {
    if (frame === undefined) return;
    const end = everything.blocks.length;
    // What is left out does not count for what it is in.
    if (isLinkList(frame)) {
      linkLists.push({ start: frame.start, end });
      return;
    }
    const outer = frames.at(-1);
    if (outer === undefined) return;
    outer.text += frame.text;
    outer.linkText += frame.linkText;
    outer.links += frame.links;
  };

  const handlers = {
    onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
      if (name === "title") inTitle = pageTitle === "";
      if (isBesideContent(name, attributes)) {
        if (!voidTags.has(name)) dropDepth += 1;
        return;
      }
      if (dropDepth > 0) {
        if (!voidTags.has(name)) dropDepth += 1;
        return;
      }
      switch (name) {
        case "h1":
        case "h2":
        case "h3":
        case "h4":
        case "h5":
        case "h6":
          // A heading in a cell: the table only places things beside each other, and is read as if it were not there.
          if (cell) {
            closeRow();
            cell = false;
          }
          flush();
          heading = Number(name[1]);
          return;
        case "dt":
        case "summary":
          flush();
          heading = 6;
          return;
        case "ul":
        case "ol":
        case "menu": {
          flush();
          const start = Number(attributes["start"] ?? 1);
          lists.push({ ordered: name === "ol", next: Number.isSafeInteger(start) ? start : 1 });
          return;
        }
        case "li": {
          flush();
          const list = lists.at(-1);
          item = {
            number: list?.ordered === true ? list.next : null,
            depth: Math.min(listDepthMax, Math.max(0, lists.length - 1)),
          };
          if (list !== undefined) list.next += 1;
          return;
        }
        case "table":
          if (cell) closeCell();
          flush();
          if (tables.length < 100) tables.push({ header: [], cells: [], headerCells: 0 });
          return;
        case "tr":
          closeRow();
          return;
        case "td":
        case "th": {
          closeCell();
          flush();
          const table = tables.at(-1);
          if (table === undefined) return;
          cell = true;
          if (name === "th") table.headerCells += 1;
          return;
        }
        case "br":
          text += pre > 0 ? "\n" : cell || item !== null || heading > 0 ? " " : "\u2028";
          return;
        case "img":
          text += markPicture(attributes["alt"] ?? "");
          return;
        case "pre":
          flush();
          pre += 1;
          return;
        case "b":
        case "strong":
          bold += 1;
          return;
        case "a":
          if (attributes["href"] === undefined) return;
          linked += 1;
          return;
        case "code":
        case "kbd":
          if (name === "code" && pre === 0 && heading === 0) text += "`";
          return;
        default:
      }
      if (isContent(name, attributes)) {
        flush();
        contentDepth += 1;
      } else if (blockTags.has(name)) {
        // A paragraph inside a list item is the item's own text.
        if (item === null || text.trim() !== "") flush();
      }
      if (cell && blockTags.has(name)) text += " ";
    },
    ontext(data: string): void {
      if (inTitle) {
        if (pageTitle.length < 1_000) pageTitle += data;
        return;
      }
      if (dropDepth > 0) return;
      text += data;
      if (bold > 0) boldText += data.length;
      const letters = data.replaceAll(/[\s\p{P}]/gu, "").length;
      if (linked > 0) linkText += letters;
      const frame = frames.at(-1);
      if (frame === undefined) return;
      frame.text += letters;
      if (linked > 0) frame.linkText += letters;
    },
    onclosetag(name: string): void {
      if (name === "title") inTitle = false;
      if (dropDepth > 0) {
        if (!voidTags.has(name)) dropDepth -= 1;
        return;
      }
      switch (name) {
        case "h1":
        case "h2":
        case "h3":
        case "h4":
        case "h5":
        case "h6":
        case "dt":
        case "summary":
          flush();
          heading = 0;
          return;
        case "ul":
        case "ol":
        case "menu":
          flush();
          item = null;
          lists.pop();
          return;
        case "li":
          flush();
          item = null;
          return;
        case "td":
        case "th":
          closeCell();
          return;
        case "tr":
          closeRow();
          return;
        case "table":
          closeRow();
          tables.pop();
          return;
        case "pre":
          flush();
          pre = Math.max(0, pre - 1);
          return;
        case "a":
          linked = Math.max(0, linked - 1);
          return;
        case "b":
        case "strong":
          bold = Math.max(0, bold - 1);
          return;
        case "code":
          if (pre === 0 && heading === 0) text += "`";
          return;
        default:
      }
      if (blockTags.has(name)) flush();
    },
  };
  const parser = new Parser(
    {
      ontext: handlers.ontext,
      onopentag(name, attributes) {
        depth.open();
        const before = contentDepth;
        handlers.onopentag(name, attributes);
        const marks = contentDepth > before;
        const links = name === "a" && dropDepth === 0 && attributes["href"] !== undefined ? 1 : 0;
        frames.push({ content: marks, start: everything.blocks.length, text: 0, linkText: 0, links });
      },
      onclosetag(name) {
        depth.close();
        const frame = frames.pop();
        if (frame?.content === true) flush();
        handlers.onclosetag(name);
        if (frame?.content === true) contentDepth -= 1;
        leave(frame);
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(source);
  closeRow();
  flush();

  const marked = contentCharacters >= 200 || contentCharacters * 2 >= charactersOf(everything.blocks);
  const blocks = marked && content.blocks.length > 0 ? content.blocks : withoutLinkLists(everything.blocks, linkLists);
  const firstHeading = blocks.find((block) => block.kind === "heading" && block.depth === 1);
  const title = firstHeading?.kind === "heading" ? firstHeading.text : oneLine(pageTitle);
  return { title: title === "" ? null : title, blocks };
}

const voidTags = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));

/** Where nothing else would be left, the page is a list of links, and is taken as it is. */
function withoutLinkLists(
  blocks: readonly Block[],
  linkLists: readonly { readonly start: number; readonly end: number }[],
): readonly Block[] {
  const isLeft = new Uint8Array(blocks.length).fill(1);
  for (const { start, end } of linkLists) isLeft.fill(0, start, end);
  const left = blocks.filter((_, index) => isLeft[index] === 1);
  return left.some((block) => block.kind !== "heading") ? left : blocks;
}

function charactersOf(blocks: readonly Block[]): number {
  let sum = 0;
  for (const block of blocks) sum += block.kind === "row" ? block.cells.join("").length : block.text.length;
  return sum;
}

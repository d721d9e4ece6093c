import { Parser } from "htmlparser2";
import { createBlockList, describePictures, linkMark, markPicture, namedCells, oneLine } from "./blocks.ts";
import type { Block, BlockList, ParsedDocument } from "./blocks.ts";

/** Elements whose text is not what the page says. */
const dropped = new Set(
  "script style template noscript svg math canvas iframe object embed nav header footer aside form button select textarea dialog head".split(
    " ",
  ),
);
const blockTags = new Set(
  "address article blockquote body caption center dd details div dl fieldset figcaption figure hgroup hr html legend main p section".split(
    " ",
  ),
);
/** What marks the page's own content, best first. */
const contentTags = new Set(["main", "article"]);
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
 * page marks its content (`main`, `article`), only that is taken. Works on the stream of tags, so depth costs nothing.
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

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === "title") inTitle = pageTitle === "";
        if (dropped.has(name) || attributes["hidden"] !== undefined || attributes["aria-hidden"] === "true") {
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
            if (attributes["href"] !== undefined) linked += 1;
            return;
          case "code":
          case "kbd":
            if (name === "code" && pre === 0 && heading === 0) text += "`";
            return;
          default:
        }
        if (contentTags.has(name)) {
          flush();
          contentDepth += 1;
        } else if (blockTags.has(name)) {
          // A paragraph inside a list item is the item's own text.
          if (item === null || text.trim() !== "") flush();
        }
        if (cell && blockTags.has(name)) text += " ";
      },
      ontext(data) {
        if (inTitle) {
          if (pageTitle.length < 1_000) pageTitle += data;
          return;
        }
        if (dropDepth > 0) return;
        text += data;
        if (bold > 0) boldText += data.length;
        if (linked > 0) linkText += data.replaceAll(/[\s\p{P}]/gu, "").length;
      },
      onclosetag(name) {
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
        if (contentTags.has(name)) {
          flush();
          contentDepth = Math.max(0, contentDepth - 1);
        } else if (blockTags.has(name)) flush();
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(source);
  closeRow();
  flush();

  const chosen: BlockList =
    contentCharacters >= 200 || contentCharacters * 2 >= charactersOf(everything) ? content : everything;
  const blocks = chosen.blocks.length > 0 ? chosen.blocks : everything.blocks;
  const firstHeading = blocks.find((block) => block.kind === "heading" && block.depth === 1);
  const title = firstHeading?.kind === "heading" ? firstHeading.text : oneLine(pageTitle);
  return { title: title === "" ? null : title, blocks };
}

const voidTags = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));

function charactersOf(list: BlockList): number {
  let sum = 0;
  for (const block of list.blocks) sum += block.kind === "row" ? block.cells.join("").length : block.text.length;
  return sum;
}

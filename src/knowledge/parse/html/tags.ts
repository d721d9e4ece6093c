import { markPicture } from "#knowledge/documents/blocks.ts";
import type { PageText } from "./page-text.ts";
import { endBlock, endCell, endRow, endTable } from "./page-text.ts";

type Attributes = Readonly<Record<string, string>>;
type Tag = (page: PageText, attributes: Attributes) => void;

const listDepthMax = 4;
const tablesMax = 100;
const spanMax = 1_000;

const blockTags = words(
  "address article blockquote body caption center dd details div dl fieldset figcaption figure hgroup hr html legend main p section",
);
export const voidTags = words("area base br col embed hr img input link meta param source track wbr");

const openHeading =
  (level: number): Tag =>
  (page) => {
    // A table with a heading in a cell is a layout, and is read as if it were not there.
    if (page.inCell) {
      endRow(page);
      page.inCell = false;
    }
    endBlock(page);
    page.heading = level;
  };

const openTitle: Tag = (page) => {
  endBlock(page);
  page.heading = 6;
};

const openList =
  (ordered: boolean): Tag =>
  (page, attributes) => {
    endBlock(page);
    const start = Number(attributes["start"] ?? 1);
    page.lists.push({ ordered, next: Number.isSafeInteger(start) ? start : 1 });
  };

const openItem: Tag = (page) => {
  endBlock(page);
  const list = page.lists.at(-1);
  page.item = {
    number: list?.ordered === true ? list.next : null,
    depth: Math.min(listDepthMax, Math.max(0, page.lists.length - 1)),
  };
  if (list !== undefined) list.next += 1;
};

const openTable: Tag = (page) => {
  if (page.inCell) endCell(page);
  endBlock(page);
  const isLayout = page.layouts.next();
  if (page.tables.length < tablesMax)
    page.tables.push({
      isLayout,
      header: [],
      cells: [],
      headerCells: 0,
      plainCells: 0,
      boldCells: 0,
      cell: { isHeader: false, isBold: false, columns: 1, rows: 1 },
      spanning: new Map(),
      repeated: 0,
      isHeaderParted: false,
      first: null,
    });
};

const openCell =
  (isHeader: boolean): Tag =>
  (page, attributes) => {
    endCell(page);
    endBlock(page);
    const table = page.tables.at(-1);
    if (table === undefined || table.isLayout) return;
    page.inCell = true;
    const { colspan, rowspan } = attributes;
    table.cell = { isHeader, isBold: isBold(attributes), columns: spanOf(colspan), rows: spanOf(rowspan) };
  };

const spanOf = (attribute = "1"): number => Math.max(1, Math.min(spanMax, Math.trunc(Number(attribute)) || 1));

const isBold = ({ style = "" }: Attributes): boolean =>
  /(?:^|;)\s{0,9}font-weight\s{0,9}:\s{0,9}(?:bold|[6-9]00)/i.test(style);

const openSpan: Tag = (page, attributes) => {
  const bold = isBold(attributes);
  page.spans.push(bold);
  if (bold) page.bold += 1;
};

const openBold: Tag = (page) => {
  page.bold += 1;
};

const putCodeMark: Tag = (page) => {
  if (page.preformatted === 0 && page.heading === 0) page.text += "`";
};

const opened = new Map<string, Tag>([
  ...[1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, openHeading(level)] as const),
  ["dt", openTitle],
  ["summary", openTitle],
  ["ul", openList(false)],
  ["ol", openList(true)],
  ["menu", openList(false)],
  ["li", openItem],
  ["table", openTable],
  ["tr", endRow],
  ["td", openCell(false)],
  ["th", openCell(true)],
  ["b", openBold],
  ["strong", openBold],
  ["span", openSpan],
  ["code", putCodeMark],
  ["kbd", () => {}],
  [
    "br",
    (page) => {
      const isOneLine = page.inCell || page.item !== null || page.heading > 0;
      page.text += page.preformatted > 0 ? "\n" : isOneLine ? " " : "\u2028";
    },
  ],
  ["img", (page, attributes) => (page.text += markPicture(attributes["alt"] ?? ""))],
  [
    "pre",
    (page) => {
      endBlock(page);
      page.preformatted += 1;
    },
  ],
  [
    "a",
    (page, attributes) => {
      if (attributes["href"] !== undefined) page.links += 1;
    },
  ],
]);

const closeHeading = (page: PageText): void => {
  endBlock(page);
  page.heading = 0;
};

const closeList = (page: PageText): void => {
  endBlock(page);
  page.item = null;
  page.lists.pop();
};

const closeBold = (page: PageText): void => {
  page.bold = Math.max(0, page.bold - 1);
};

const closeCell = (page: PageText): void => {
  if (page.tables.at(-1)?.isLayout === true) endBlock(page);
  else endCell(page);
};

const closed = new Map<string, (page: PageText) => void>([
  ...["h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"].map((name) => [name, closeHeading] as const),
  ...["ul", "ol", "menu"].map((name) => [name, closeList] as const),
  [
    "li",
    (page) => {
      endBlock(page);
      page.item = null;
    },
  ],
  ["td", closeCell],
  ["th", closeCell],
  ["tr", endRow],
  ["table", endTable],
  [
    "pre",
    (page) => {
      endBlock(page);
      page.preformatted = Math.max(0, page.preformatted - 1);
    },
  ],
  [
    "a",
    (page) => {
      page.links = Math.max(0, page.links - 1);
    },
  ],
  ["b", closeBold],
  ["strong", closeBold],
  [
    "span",
    (page) => {
      if (page.spans.pop() === true) closeBold(page);
    },
  ],
  ["code", (page) => putCodeMark(page, {})],
]);

/** False for a tag that means nothing by itself; it may still be a block, see {@link openBlock}. */
export function openTag(page: PageText, name: string, attributes: Attributes): boolean {
  const tag = opened.get(name);
  tag?.(page, attributes);
  return tag !== undefined;
}

/** `isContent`: the element marks the content of the page. */
export function openBlock(page: PageText, name: string, isContent: boolean): void {
  const isBlock = blockTags.has(name);
  // A paragraph in a list item is the item's own text.
  if (isContent || (isBlock && (page.item === null || page.text.trim() !== ""))) endBlock(page);
  if (page.inCell && isBlock) page.text += " ";
}

export function closeTag(page: PageText, name: string): void {
  const tag = closed.get(name);
  if (tag !== undefined) tag(page);
  else if (blockTags.has(name)) endBlock(page);
}

function words(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

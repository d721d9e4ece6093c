import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { Nodes, PhrasingContent, Root, RootContent, Table } from "mdast";
import { createCache } from "#runtime/cache.ts";
import type { AsTyped } from "./as-typed.ts";
import { createAsTyped } from "./as-typed.ts";
import { markdownParts, marksIn, marksMax } from "./markdown-parts.ts";

/**
 * Markdown as data that cannot run: a tree of few kinds in which every link has a scheme from a list, raw HTML is text,
 * and pictures are links (nothing is loaded from elsewhere). Whoever shows it builds its own elements from it.
 */
export type Block =
  | { readonly t: "p"; readonly c: readonly Inline[] }
  | { readonly t: "h"; readonly level: number; readonly c: readonly Inline[] }
  | { readonly t: "ul"; readonly items: readonly (readonly Block[])[] }
  | { readonly t: "ol"; readonly start: number; readonly items: readonly (readonly Block[])[] }
  | { readonly t: "quote"; readonly c: readonly Block[] }
  | { readonly t: "pre"; readonly text: string }
  | { readonly t: "table"; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly t: "hr" };

export type Inline =
  | string
  | { readonly t: "b" | "i" | "s"; readonly c: readonly Inline[] }
  | { readonly t: "code"; readonly text: string }
  | { readonly t: "a"; readonly href: string; readonly c: readonly Inline[] }
  | { readonly t: "br" };

export type Cell = readonly Inline[];

/** More Markdown than this, in UTF-8 bytes, is shown as the plain text it is. */
export const markdownBytesMax = 16 * 1024;

/** More lines than this are shown as the plain text that they are. */
const linesMax = 500;

/** How many characters of Markdown have their trees kept; half of it surely: those of the fifty longest messages. */
const keptMax = 2_000_000;

/** Quotes, lists and emphasis nested deeper than this are shown as their text. */
const depthMax = 12;

/** Made once: to put them together takes longer than to parse a short message. */
const extensions = [
  gfm({ singleTilde: false }),
  // A line of dashes below a name, and indented lines, are text.
  { disable: { null: ["setextUnderline", "codeIndented"] } },
];
const mdastExtensions = [gfmFromMarkdown()];

const linkSchemes = new Set(["http:", "https:", "mailto:"]);

const keptTrees = createCache<string, readonly Block[]>(keptMax);

/** Never throws; every character a reader would see is somewhere in the result. Trees of recent texts are kept. */
export function safeTree(markdown: string): readonly Block[] {
  if (isPlain(markdown)) return plainBlocks(markdown);
  if (Buffer.byteLength(markdown) > markdownBytesMax || marksIn(markdown) > marksMax || hasManyLines(markdown)) {
    return plainBlocks(markdown);
  }
  const known = keptTrees.get(markdown);
  if (known !== undefined) return known;
  const tree = parsedTree(markdown);
  keptTrees.set(markdown, tree, markdown.length);
  return tree;
}

function parsedTree(markdown: string): readonly Block[] {
  return markdownParts(markdown).flatMap(({ text, isPlain: isText }) => {
    if (isText) return plainBlocks(text);
    let root: Root;
    try {
      root = fromMarkdown(text, { extensions, mdastExtensions });
    } catch {
      // The parser's own limits (its stack, on hostile nesting) must not lose a message.
      return plainBlocks(text);
    }
    const definitions = new Map<string, string>();
    for (const node of descendants(root)) {
      if (node.type === "definition" && !definitions.has(node.identifier)) definitions.set(node.identifier, node.url);
    }
    return blocksOf(root.children, { definitions, depth: 0, asTyped: createAsTyped(text) });
  });
}

/**
 * Whether nothing in it means anything in Markdown, as in most of what is said: paragraphs of one line each, which begin
 * with a letter or digit, have none of the signs that begin something within a line, are no item of a list and hold no
 * address.
 */
function isPlain(markdown: string): boolean {
  return (
    markdown.length <= plainMax &&
    !/^\d+[.)]/mu.test(markdown) &&
    !/www\.|\/\//iu.test(markdown) &&
    /^[\p{L}\p{N}](?:[^\s\p{Cc}&*<@[\\_`~]| |\n\n(?=[\p{L}\p{N}]))*$/u.test(markdown) &&
    !/ (?:\n|$)/u.test(markdown)
  );
}

const plainMax = 4_000;

/** Text as it is, a paragraph for every run of lines that an empty line ends. */
export function plainBlocks(text: string): readonly Block[] {
  return text
    .split(/\n[ \t]*\n/u)
    .filter((paragraph) => paragraph.trim() !== "")
    .map((paragraph) => ({ t: "p", c: withBreaks(paragraph) }));
}

/** The address when it may be a link: http, https or mailto, and nothing that a browser would read as another scheme. */
export function safeHref(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !linkSchemes.has(url.protocol)) return undefined;
  return url.protocol !== "mailto:" && url.hostname === "" ? undefined : url.href;
}

interface Place {
  readonly definitions: ReadonlyMap<string, string>;
  readonly depth: number;
  readonly asTyped: AsTyped;
}

const hasManyLines = (markdown: string): boolean => (markdown.match(/\r\n?|\n/g)?.length ?? 0) >= linesMax;

function* descendants(root: Nodes): Generator<Nodes> {
  const rest: Nodes[] = [root];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    yield node;
    if ("children" in node) for (const child of node.children.toReversed()) rest.push(child);
  }
}

function textOf(node: Nodes): string {
  let text = "";
  for (const each of descendants(node)) {
    if ("value" in each) text += each.value;
    else if ((each.type === "image" || each.type === "imageReference") && each.alt) text += each.alt;
    else if (each.type === "break") text += "\n";
  }
  return text;
}

function blocksOf(nodes: readonly RootContent[], place: Place): Block[] {
  const entries = nodes.map((node) => ({ node, blocks: blockOf(node, place) }));
  const result: Block[] = [];
  for (const [at, { node, blocks }] of entries.entries()) {
    const above = entries[at - 1]?.node.position?.end.line ?? Number.NaN;
    if (node.position?.start.line === above + 1) appendLines(result, blocks);
    else result.push(...blocks);
  }
  return result;
}

/** Adds a paragraph right below another one as further lines of it. */
function appendLines(result: Block[], [first, ...rest]: readonly Block[]): void {
  const last = result.at(-1);
  if (first?.t === "p" && last?.t === "p")
    result[result.length - 1] = { t: "p", c: [...last.c, { t: "br" }, ...first.c] };
  else if (first !== undefined) result.push(first);
  result.push(...rest);
}

function blockOf(node: RootContent, place: Place): Block[] {
  if (place.depth >= depthMax) return [{ t: "p", c: withBreaks(textOf(node)) }];
  const inner = { ...place, depth: place.depth + 1 };
  switch (node.type) {
    case "paragraph":
      return [{ t: "p", c: inlinesOf(node.children, inner) }];
    case "heading": {
      const signs = place.asTyped.openedBy(node);
      const content = inlinesOf(node.children, inner);
      return [signs === "" ? { t: "h", level: node.depth, c: content } : { t: "p", c: [signs, ...content] }];
    }
    case "blockquote": {
      const signs = place.asTyped.openedBy(node);
      const content = blocksOf(node.children, inner);
      return signs === "" ? [{ t: "quote", c: content }] : withSign(signs, content);
    }
    case "list": {
      const signs = place.depth === 0 ? place.asTyped.itemsOf(node) : undefined;
      if (signs !== undefined) {
        return joinedLines(node.children.map((item, at) => withSign(signs[at] ?? "", blocksOf(item.children, inner))));
      }
      const items = node.children.map((item) => {
        const mark = item.checked === true ? "☑ " : item.checked === false ? "☐ " : "";
        const blocks = blocksOf(item.children, inner);
        const first = blocks[0];
        if (mark === "") return blocks;
        return first?.t === "p"
          ? [{ ...first, c: [mark, ...first.c] }, ...blocks.slice(1)]
          : [paragraph(mark), ...blocks];
      });
      return [node.ordered === true ? { t: "ol", start: node.start ?? 1, items } : { t: "ul", items }];
    }
    case "code":
      return [{ t: "pre", text: node.value }];
    case "table":
      return [tableOf(node, inner)];
    case "thematicBreak":
      return [{ t: "hr" }];
    case "html":
      return [{ t: "p", c: withBreaks(node.value) }];
    case "footnoteDefinition":
      return [paragraph(`[${node.label ?? node.identifier}]`), ...blocksOf(node.children, inner)];
    case "definition":
      return [];
    case "yaml":
      return [{ t: "pre", text: node.value }];
    case "listItem":
      return blocksOf(node.children, inner);
    case "tableRow":
    case "tableCell":
      return [{ t: "p", c: withBreaks(textOf(node)) }];
    default:
      return [{ t: "p", c: inlineOf(node, inner) }];
  }
}

const paragraph = (text: string): Block => ({ t: "p", c: [text] });

/** The blocks with a sign before their first words. */
function withSign(sign: string, [first, ...rest]: readonly Block[]): Block[] {
  if (first === undefined) return [paragraph(sign)];
  return first.t === "p" ? [{ ...first, c: [sign, ...first.c] }, ...rest] : [paragraph(sign), first, ...rest];
}

/** Entries of one paragraph each as lines of one paragraph. */
function joinedLines(entries: readonly (readonly Block[])[]): Block[] {
  const result: Block[] = [];
  for (const entry of entries) appendLines(result, entry);
  return result;
}

function tableOf(node: Table, place: Place): Block {
  const rows = node.children.map((row) => row.children.map((cell) => inlinesOf(cell.children, place)));
  return { t: "table", head: rows[0] ?? [], rows: rows.slice(1) };
}

function inlinesOf(nodes: readonly PhrasingContent[], place: Place): Inline[] {
  return nodes.flatMap((node) => inlineOf(node, place));
}

const styleOf = { strong: "b", emphasis: "i", delete: "s" } as const;

function inlineOf(node: PhrasingContent, place: Place): Inline[] {
  if (place.depth >= depthMax) return withBreaks(textOf(node));
  const inner = { ...place, depth: place.depth + 1 };
  switch (node.type) {
    case "text":
      // In a chat, Enter ends a line; a web page would show a space.
      return withBreaks(place.asTyped.textOf(node)).filter((each) => each !== "");
    case "html":
      return withBreaks(node.value);
    case "strong":
    case "emphasis":
    case "delete": {
      const signs = place.asTyped.openedBy(node);
      const content = inlinesOf(node.children, inner);
      return signs === "" ? [{ t: styleOf[node.type], c: content }] : [signs, ...content, signs];
    }
    case "inlineCode":
      return [{ t: "code", text: node.value }];
    case "break":
      return [{ t: "br" }];
    case "link":
      return linked(node.url, inlinesOf(node.children, inner));
    case "linkReference":
      return linked(place.definitions.get(node.identifier), inlinesOf(node.children, inner));
    case "image":
      return linked(node.url, [node.alt === undefined || node.alt === null || node.alt === "" ? node.url : node.alt]);
    case "imageReference": {
      const url = place.definitions.get(node.identifier);
      return linked(url, [node.alt === undefined || node.alt === null || node.alt === "" ? (url ?? "") : node.alt]);
    }
    case "footnoteReference":
      return [`[${node.label ?? node.identifier}]`];
  }
}

/** A link where the address may be one; else its text, so that nothing is lost but the danger. */
function linked(address: string | undefined, content: readonly Inline[]): Inline[] {
  const href = address === undefined ? undefined : safeHref(address);
  if (href === undefined) return [...content];
  return [{ t: "a", href, c: content.length === 0 ? [href] : withoutLinks(content) }];
}

/** A picture inside a link would be a link in a link, which no page can show. */
function withoutLinks(content: readonly Inline[]): readonly Inline[] {
  return content.flatMap((inline): readonly Inline[] => {
    if (typeof inline === "string" || inline.t === "code" || inline.t === "br") return [inline];
    return inline.t === "a" ? withoutLinks(inline.c) : [{ ...inline, c: withoutLinks(inline.c) }];
  });
}

function withBreaks(text: string): Inline[] {
  return text.split("\n").flatMap((line, index): Inline[] => (index === 0 ? [line] : [{ t: "br" }, line]));
}

import type { List, Nodes, PhrasingContent, Root, RootContent, TableRow } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { parse as parseYaml } from "yaml";
import { markdownParts } from "#channels/text/markdown-parts.ts";
import {
  createBlockList,
  describePictures,
  linkMark,
  markPicture,
  namedCells,
  oneLine,
} from "#knowledge/documents/blocks.ts";
import type { BlockList, ParsedDocument } from "#knowledge/documents/blocks.ts";
import { withoutContainers } from "./containers.ts";
import { parseHtml } from "./html/html.ts";

const frontMatterLinesMax = 200;
const listDepthMax = 4;

/** The YAML between `---` lines at the very top, and the rest. */
function splitFrontMatter(text: string): { readonly title: string | null; readonly body: string } {
  if (!/^---[ \t]*\r?\n/.test(text)) return { title: null, body: text };
  const lines = text.split("\n", frontMatterLinesMax);
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end === -1) return { title: null, body: text };
  const head = lines.slice(1, end).join("\n");
  const body = text.slice(lines.slice(0, end + 1).join("\n").length + 1);
  return { title: frontMatterTitle(head), body };
}

/** Only the title is given to the YAML parser, which takes quadratic time over some texts. */
function frontMatterTitle(head: string): string | null {
  const [entry] = /^title:[ \t]*(?![[{&*!\s]|[?:-] )[^\r\n]{1,500}(?:\r?\n[ \t]+[^\r\n]{1,500}){0,4}/m.exec(head) ?? [];
  if (entry === undefined) return null;
  let data: unknown;
  try {
    data = parseYaml(entry, { maxAliasCount: 0, logLevel: "silent" });
  } catch {
    // Invalid front matter has no title; the text after it is still used.
    return null;
  }
  if (typeof data !== "object" || data === null || !("title" in data) || typeof data.title !== "string") return null;
  const title = oneLine(data.title);
  return title === "" ? null : title;
}

/** Attributes after a link or a picture, which are not shown: "{.button}", "{: target=_blank}". */
const attributeList = /^\{:?\s*(?:[.#][\w-]+|[a-z]+=[\w"-]+)(?:\s+[^{}\s]+)*\s*\}/;

/** The text of a paragraph; a paragraph of nothing but links is marked. */
function textOf(children: readonly PhrasingContent[]): string {
  const text = describePictures(phrasingText(children));
  const isLink = (child: PhrasingContent): boolean => child.type === "link" || child.type === "linkReference";
  const isGap = (child: PhrasingContent): boolean =>
    child.type === "text" && /^[\s\p{P}]*$/u.test(child.value.replace(attributeList, ""));
  return children.some(isLink) && children.every((child) => isLink(child) || isGap(child))
    ? `${linkMark}${oneLine(text)}`
    : text;
}

/** The text of links and images, code in backticks, and hard breaks as newlines. */
function phrasingText(nodes: readonly Nodes[]): string {
  let text = "";
  let before: Nodes["type"] | null = null;
  for (const node of nodes) {
    switch (node.type) {
      case "text":
        text += before === "link" || before === "image" ? node.value.replace(attributeList, "") : node.value;
        break;
      case "inlineCode":
        text += node.value.includes("`") ? node.value : `\`${oneLine(node.value)}\``;
        break;
      case "break":
        text += "\n";
        break;
      case "image":
      case "imageReference":
        text += markPicture(node.alt ?? "");
        break;
      case "html":
        // <br> is used for new lines in Markdown. Other tags are removed; their text stays.
        if (/^<br\s*\/?>$/i.test(node.value)) text += "\n";
        break;
      case "footnoteReference":
        break;
      default:
        if ("children" in node) text += phrasingText(node.children);
    }
    before = node.type;
  }
  return text;
}

/** Removes anchors such as "Setup {#setup}". */
function headingText(children: readonly PhrasingContent[]): string {
  return oneLine(
    describePictures(phrasingText(children))
      .replaceAll("`", "")
      .replace(/\{#[^{}]*\}\s*$/, ""),
  );
}

/** Whether a paragraph is only a picture, whose description is not text of the page. */
function isPicture(children: readonly PhrasingContent[]): boolean {
  return children.every(
    (child) =>
      child.type === "image" ||
      child.type === "imageReference" ||
      (child.type === "text" && child.value.replace(attributeList, "").trim() === ""),
  );
}

/** Replaces GitHub's `[!NOTE]` at the start of a quotation by a word. */
function nameAlert(text: string): string {
  return text.replace(
    /^\s*\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*/i,
    (_, kind: string) => `${kind.slice(0, 1).toUpperCase()}${kind.slice(1).toLowerCase()}: `,
  );
}

function isBoldLine(children: readonly PhrasingContent[]): boolean {
  return children.length === 1 && children[0]?.type === "strong";
}

function addParagraphs(list: BlockList, text: string): void {
  for (const line of text.split("\n")) list.add({ kind: "paragraph", text: oneLine(line) });
}

function addList(list: BlockList, node: List, depth: number): void {
  let number = node.start ?? 1;
  for (const item of node.children) {
    const marker = node.ordered === true ? number : null;
    number += 1;
    let text = "";
    let open = true;
    const flush = (): void => {
      if (open) list.add({ kind: "item", number: marker, depth, text: oneLine(text) });
      else addParagraphs(list, text);
      open = false;
      text = "";
    };
    for (const child of item.children) {
      switch (child.type) {
        case "paragraph":
          if (!isPicture(child.children)) text += ` ${textOf(child.children).replaceAll("\n", " ")}`;
          break;
        case "code":
          // A one-line command is part of its step; a longer listing comes after it.
          if (!child.value.includes("\n") && !child.value.includes("`")) {
            text += ` \`${child.value.trim()}\``;
            break;
          }
          flush();
          list.add({ kind: "code", text: child.value });
          break;
        default:
          if (text.trim() !== "" || open) flush();
          addBlock(list, child, Math.min(listDepthMax, depth + 1));
      }
    }
    if (text.trim() !== "" || open) flush();
  }
}

function addBlock(list: BlockList, node: RootContent, depth: number): void {
  switch (node.type) {
    case "heading":
      list.add({ kind: "heading", depth: node.depth, text: headingText(node.children) });
      return;
    case "paragraph": {
      if (isPicture(node.children)) return;
      const text = nameAlert(textOf(node.children));
      if (isBoldLine(node.children) && text.length <= 120 && !text.includes("\n"))
        list.add({ kind: "heading", depth: 6, text: oneLine(text) });
      else addParagraphs(list, text);
      return;
    }
    case "list":
      addList(list, node, depth);
      return;
    case "code":
      list.add({ kind: "code", text: node.value });
      return;
    case "table": {
      const cellsOf = (row: TableRow): string[] =>
        row.children.map((cell) => oneLine(describePictures(phrasingText(cell.children))));
      const [first, ...rest] = node.children;
      const header = first === undefined ? [] : cellsOf(first);
      for (const row of rest) list.add({ kind: "row", cells: namedCells(header, cellsOf(row)) });
      return;
    }
    case "html":
      for (const block of parseHtml(node.value).blocks) list.add(block);
      return;
    case "blockquote":
    case "footnoteDefinition":
      for (const child of node.children) addBlock(list, child, depth);
      return;
    default:
  }
}

/** Parses CommonMark with GitHub's tables and lists. The title is from the front matter, or else the first `#` heading. */
export function parseMarkdown(source: string): ParsedDocument {
  const { title, body } = splitFrontMatter(source);
  const list = createBlockList();
  for (const { text, isPlain } of markdownParts(withoutContainers(body), { repeatHeads: true })) {
    if (isPlain) {
      addParagraphs(list, text);
      continue;
    }
    const root: Root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
    for (const node of root.children) addBlock(list, node, 0);
  }
  const first = list.blocks.find((block) => block.kind === "heading" && block.depth === 1);
  return { title: title ?? (first?.kind === "heading" ? first.text : null), blocks: list.blocks };
}

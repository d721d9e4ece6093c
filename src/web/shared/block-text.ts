import type { Block, Inline } from "#channels/text/markdown.ts";

/** The words of a formatted message, in one line. */
export const blockText = (blocks: readonly Block[]): string =>
  blocks.map(words).join(" ").replaceAll(/\s+/gu, " ").trim();

function words(node: Block | Inline): string {
  if (typeof node === "string") return node;
  switch (node.t) {
    case "br":
    case "hr":
      return " ";
    case "pre":
    case "code":
      return node.text;
    case "ul":
    case "ol":
      return node.items.flat().map(words).join(" ");
    case "table":
      return [node.head, ...node.rows].flat(2).map(words).join(" ");
    case "quote":
      return node.c.map(words).join(" ");
    default:
      return node.c.map(words).join("");
  }
}

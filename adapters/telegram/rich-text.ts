/** People do not write deeper nesting. */
const depthMax = 30;
const piecesMax = 5_000;

const textFields = ["text", "summary", "expression", "alternative_text", "caption", "credit"] as const;
const blockFields = ["label", "blocks", "items", "cells"] as const;

/** The text of a rich message, block by block, without its pictures and maps. */
export function richTextOf(blocks: readonly unknown[]): string {
  let pieces = 0;

  function lines(block: unknown, depth: number): readonly string[] {
    pieces += 1;
    if (depth > depthMax || pieces > piecesMax) return [];
    if (Array.isArray(block)) return (block as readonly unknown[]).flatMap((each) => lines(each, depth + 1));
    if (typeof block === "string") return [block];
    if (typeof block !== "object" || block === null) return [];
    const of = block as Readonly<Record<string, unknown>>;
    const own = textFields.map((name) => inline(of[name], depth + 1)).filter((text) => text.trim() !== "");
    return [...own, ...blockFields.flatMap((name) => (of[name] === undefined ? [] : lines(of[name], depth + 1)))];
  }

  /** Inline text: a string, a list of parts, or a formatted part. */
  function inline(text: unknown, depth: number): string {
    pieces += 1;
    if (depth > depthMax || pieces > piecesMax) return "";
    if (typeof text === "string") return text;
    if (Array.isArray(text)) return (text as readonly unknown[]).map((each) => inline(each, depth + 1)).join("");
    if (typeof text !== "object" || text === null) return "";
    const of = text as Readonly<Record<string, unknown>>;
    return textFields.map((name) => (of[name] === undefined ? "" : inline(of[name], depth + 1))).join("");
  }

  return lines(blocks, 0).join("\n").trim();
}

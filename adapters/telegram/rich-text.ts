/** Deeper, or of more pieces, is no message that somebody wrote. */
const depthMax = 30;
const piecesMax = 5_000;

const spoken = ["text", "summary", "expression", "alternative_text", "caption", "credit"] as const;
const nested = ["label", "blocks", "items", "cells"] as const;

/** The words of a rich message, block by block. Its pictures and maps are not read. */
export function richTextOf(blocks: readonly unknown[]): string {
  let pieces = 0;

  function lines(block: unknown, depth: number): readonly string[] {
    pieces += 1;
    if (depth > depthMax || pieces > piecesMax) return [];
    if (Array.isArray(block)) return (block as readonly unknown[]).flatMap((each) => lines(each, depth + 1));
    if (typeof block === "string") return [block];
    if (typeof block !== "object" || block === null) return [];
    const of = block as Readonly<Record<string, unknown>>;
    const own = spoken.map((name) => inline(of[name], depth + 1)).filter((text) => text.trim() !== "");
    return [...own, ...nested.flatMap((name) => (of[name] === undefined ? [] : lines(of[name], depth + 1)))];
  }

  /** Text within a line: a string, pieces of it, or one with a mark. */
  function inline(text: unknown, depth: number): string {
    pieces += 1;
    if (depth > depthMax || pieces > piecesMax) return "";
    if (typeof text === "string") return text;
    if (Array.isArray(text)) return (text as readonly unknown[]).map((each) => inline(each, depth + 1)).join("");
    if (typeof text !== "object" || text === null) return "";
    const of = text as Readonly<Record<string, unknown>>;
    return spoken.map((name) => (of[name] === undefined ? "" : inline(of[name], depth + 1))).join("");
  }

  return lines(blocks, 0).join("\n").trim();
}

import { createBlockList, oneLine } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";

const bullet = /^(\s*)[-*•–·]\s+(\S.*)$/u;
const numbered = /^(\s*)(\d{1,4})[.)]\s+(\S.*)$/u;
/** Shorter lines without an end of sentence were not wrapped. */
const wrappedCharactersMin = 45;
const headingWordsMax = 10;

function isShortLine(line: string): boolean {
  return line.length < wrappedCharactersMin && !/[.,;:!?…]$/u.test(line);
}

/** Recognises "How do I …?" on a line of its own, with or without "Q:". */
function asQuestion(line: string): string | null {
  const text = line.replace(/^Q\s*[:.)]\s*/u, "");
  return text.endsWith("?") && text.length <= 200 && !/[.!?]\s/u.test(text) ? text : null;
}

/**
 * Parses plain text: blank lines separate paragraphs, dashes and numbers make lists, wrapped lines are joined. A question
 * on a line of its own and a short line above a paragraph are headings.
 */
export function parseText(source: string): ParsedDocument {
  const list = createBlockList();
  let paragraph = "";
  let item: { readonly number: number | null; readonly depth: number; text: string } | null = null;
  const flush = (): void => {
    if (item !== null) list.add({ kind: "item", number: item.number, depth: item.depth, text: oneLine(item.text) });
    list.add({ kind: "paragraph", text: oneLine(paragraph) });
    item = null;
    paragraph = "";
  };
  let previous = "";
  const lines = source.split(/\r\n|\n|\r|\f/);
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    const next = lines[index + 1]?.trim() ?? "";
    if (line === "") flush();
    else if (/^[-=_*~#]{3,}$/.test(line)) flush();
    else {
      const number = numbered.exec(raw);
      const dash = number === null ? bullet.exec(raw) : null;
      const found = number ?? dash;
      const alone = previous === "" && next === "";
      const question = asQuestion(line);
      if (found !== null) {
        flush();
        const indent = (found[1] ?? "").replaceAll("\t", "    ").length;
        item = {
          number: number === null ? null : Number(number[2]),
          depth: Math.min(3, Math.floor(indent / 2)),
          text: (number === null ? dash?.[2] : number[3]) ?? "",
        };
      } else if (question !== null && paragraph === "" && item === null && hasAnswer(lines, index, false)) {
        flush();
        list.add({ kind: "heading", depth: 2, text: question });
      } else if (
        (alone || /^[-=_~]{3,}$/.test(next)) &&
        isShortLine(line) &&
        line.split(/\s+/).length <= headingWordsMax &&
        hasAnswer(lines, index, true)
      ) {
        flush();
        list.add({ kind: "heading", depth: list.blocks.length === 0 ? 1 : 2, text: oneLine(line) });
      } else if (item !== null) item.text += ` ${line}`;
      else {
        const text = line.replace(/^A\s*[:)]\s+/u, "");
        if (paragraph !== "" && isShortLine(previous)) flush();
        paragraph += ` ${text}`;
      }
    }
    previous = line;
  }
  flush();
  const first = list.blocks[0];
  const title = first?.kind === "heading" && first.depth === 1 ? first.text : null;
  return { title, blocks: list.blocks };
}

/** Whether more than another short line follows, and, unless `questionWillDo`, no question. */
function hasAnswer(lines: readonly string[], index: number, questionWillDo: boolean): boolean {
  for (let next = index + 1; next < Math.min(lines.length, index + 4); next += 1) {
    const line = lines[next]?.trim() ?? "";
    if (line === "" || /^[-=_~]{3,}$/.test(line)) continue;
    if (line.endsWith("?")) return questionWillDo;
    return !(isShortLine(line) && (lines[next + 1]?.trim() ?? "") === "");
  }
  return false;
}

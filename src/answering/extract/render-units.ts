import { linkMark } from "#knowledge/documents/blocks.ts";
import type { Unit } from "#knowledge/documents/chunk-text.ts";
import type { Placed } from "#answering/rank/merged-passages.ts";

/** Renders units as Markdown. Their text is escaped, and must show unchanged. */
export function renderUnits(placed: readonly Pick<Placed, "unit" | "passage">[]): string {
  let text = "";
  let previous: (typeof placed)[number] | undefined;
  for (const current of placed) {
    const { unit } = current;
    if (previous !== undefined) {
      const isNewBlock = previous.unit.kind !== unit.kind || previous.passage !== current.passage;
      const sameGroup =
        !isNewBlock && "group" in unit && "group" in previous.unit && unit.group === previous.unit.group;
      if (unit.kind === "sentence" && sameGroup) text += " ";
      else if (previous.unit.kind === unit.kind && (unit.kind === "item" || unit.kind === "row")) text += "\n";
      else text += "\n\n";
    }
    text += renderUnit(unit);
    previous = current;
  }
  return text;
}

const withoutMark = (text: string): string => (text.startsWith(linkMark) ? text.slice(linkMark.length) : text);

function renderUnit(unit: Unit): string {
  switch (unit.kind) {
    case "heading":
      return `**${escapeMarkdown(unit.text)}**`;
    case "sentence":
      return escapeMarkdown(unit.text);
    case "item":
      return `${"   ".repeat(unit.depth)}${unit.number === null ? "-" : `${unit.number}.`} ${escapeMarkdown(withoutMark(unit.text))}`;
    case "row":
      return `- ${escapeMarkdown(unit.text.split(" | ").map(readableCell).join(", "))}`;
    case "code": {
      let fence = "```";
      while (unit.text.includes(fence)) fence += "`";
      return `${fence}\n${unit.text}\n${fence}`;
    }
  }
}

/** Exports name columns "opening_hours": customers read "opening hours". */
const readableCell = (cell: string): string =>
  cell.replace(/^[a-z][a-z\d]*(?:_[a-z\d]+)+(?=: )/iu, (name) => name.replaceAll("_", " "));

/** Escapes Markdown characters in a text. Code in backticks stays code. */
export function escapeMarkdown(text: string): string {
  if (!/[\\*~`<[_&]|^[#>+=-]/.test(text)) return text;
  return text
    .split(/(`[^`]+`)/)
    .map((part) => {
      if (part.length > 2 && part.startsWith("`") && part.endsWith("`")) return part;
      return part
        .replaceAll(/[\\*~`]/g, String.raw`\$&`)
        .replaceAll(/<(?=[a-z/!?])/gi, String.raw`\<`)
        .replaceAll(/\[(?=[^\]]{0,999}\][([:])/g, String.raw`\[`)
        .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
        .replaceAll(/&(?=#?\w{1,31};)/g, String.raw`\&`);
    })
    .join("")
    .replace(/^(#{1,6}\s|>|[-+]\s|={3,}|-{3,})/, String.raw`\$1`);
}

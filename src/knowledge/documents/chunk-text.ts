import { oneLine } from "./blocks.ts";
import { splitSentences } from "#language/words/sentences.ts";

/**
 * The smallest parts of an answer. The text of a chunk is light Markdown, readable by people, that {@link readUnits}
 * splits into units again: blank lines between paragraphs, "- " and "1. " for lists, "| " for the rows of a table,
 * "## " for a heading in the chunk, fences for code.
 */
export type Unit =
  | { readonly kind: "heading"; readonly text: string }
  /** Sentences of one paragraph have the same `group`. */
  | { readonly kind: "sentence"; readonly text: string; readonly group: number }
  /** Items of one list have the same `group`; number null: a bullet. */
  | {
      readonly kind: "item";
      readonly text: string;
      readonly number: number | null;
      readonly depth: number;
      readonly group: number;
    }
  | { readonly kind: "row"; readonly text: string; readonly group: number }
  | { readonly kind: "code"; readonly text: string };

const groupOf = (unit: Unit): number | null => ("group" in unit ? unit.group : null);

function fenceFor(code: string): string {
  let fence = "```";
  while (code.includes(fence)) fence += "`";
  return fence;
}

export function writeUnit(unit: Unit): string {
  switch (unit.kind) {
    case "heading":
      return `## ${unit.text}`;
    case "sentence":
      return unit.text;
    case "item":
      return `${"   ".repeat(unit.depth)}${unit.number === null ? "-" : `${unit.number}.`} ${unit.text}`;
    case "row":
      return `| ${unit.text} |`;
    case "code": {
      const fence = fenceFor(unit.text);
      return `${fence}\n${unit.text}\n${fence}`;
    }
  }
}

/** The inverse of {@link readUnits}. */
export function writeUnits(units: readonly Unit[]): string {
  let text = "";
  let previous: Unit | undefined;
  for (const unit of units) {
    if (previous !== undefined) {
      const together = groupOf(unit) !== null && groupOf(unit) === groupOf(previous) && unit.kind === previous.kind;
      text += together ? (unit.kind === "sentence" ? " " : "\n") : "\n\n";
    }
    text += writeUnit(unit);
    previous = unit;
  }
  return text;
}

const itemLine = /^( *)(?:-|(\d{1,9})\.) (\S.*)$/;

export function readUnits(text: string): Unit[] {
  const units: Unit[] = [];
  const lines = text.split("\n");
  let group = 0;
  let previous: "sentence" | "item" | "row" | null = null;
  const enter = (kind: "sentence" | "item" | "row"): number => {
    if (previous !== kind) group += 1;
    previous = kind;
    return group;
  };
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const fence = /^`{3,}$/.exec(line)?.[0];
    const item = itemLine.exec(line);
    if (fence !== undefined && lines.includes(fence, index + 1)) {
      const end = lines.indexOf(fence, index + 1);
      units.push({ kind: "code", text: lines.slice(index + 1, end).join("\n") });
      index = end;
      previous = null;
    } else if (line === "") previous = null;
    else if (line.startsWith("## ")) {
      units.push({ kind: "heading", text: line.slice(3) });
      previous = null;
    } else if (line.startsWith("| ") && line.endsWith(" |")) {
      units.push({ kind: "row", text: line.slice(2, -2), group: enter("row") });
    } else if (item !== null) {
      const number = item[2] === undefined ? null : Number(item[2]);
      const depth = Math.floor((item[1] ?? "").length / 3);
      units.push({ kind: "item", text: item[3] ?? "", number, depth, group: enter("item") });
    } else {
      const of = enter("sentence");
      for (const sentence of splitSentences(oneLine(line))) units.push({ kind: "sentence", text: sentence, group: of });
    }
  }
  return units;
}

/** Puts an invisible character before a sentence that would be read as a unit of another kind. */
export function guardSentence(text: string): string {
  return /^(?:## |\| |- |\d{1,9}\. |`{3})/.test(text) ? `\u2060${text}` : text;
}

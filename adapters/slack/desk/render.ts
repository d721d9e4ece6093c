import type { Run } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf } from "#channels/text/styled-text.ts";
import type { DeskItem, DeskMessage, DeskPart, ShownFile } from "#channels/desk/contract.ts";
import { escapeText } from "../messages/mrkdwn.ts";
import type { RichText } from "../render.ts";
import { richText, textMax } from "../render.ts";

export interface DeskPayload {
  readonly text: string;
  readonly blocks: readonly RichText[];
  /** A file to share; `text` is its comment. */
  readonly file?: ShownFile;
}

const bold = { kind: "bold" } as const;
const italic = { kind: "italic" } as const;
const plain = (text: string): Run => ({ text, styles: [] });

/** Renders an item as messages. Customers' text goes into text elements, in which Slack reads no markup. */
export function renderItem(item: DeskItem): readonly DeskPart[] {
  if (item.kind === "file") return [filePart(item)];
  const runs = runsOf(item).filter(({ text }) => text !== "");
  return splitRuns(runs, textMax, (text) => escapeText(text).length).map((some) => {
    const text = textOf(some);
    const payload: DeskPayload = { text: escapeText(text), blocks: [richText(some)] };
    return { text, payload };
  });
}

function filePart({ file, of }: Extract<DeskItem, { kind: "file" }>): DeskPart {
  const text = `${signs[of.role]} ${of.authorName ?? nameless[of.role]}: ${file.name}`;
  const payload: DeskPayload = { text, blocks: [], file };
  return { text, payload };
}

function runsOf(item: Exclude<DeskItem, { kind: "file" }>): readonly Run[] {
  switch (item.kind) {
    case "message":
      return messageRuns(item.message);
    case "transcript":
      return [
        { text: "What was said before\n", styles: [bold] },
        ...(item.earlier === 0
          ? []
          : [{ text: `${item.earlier} earlier messages are in the inbox.\n`, styles: [italic] }]),
        ...item.messages.flatMap((message) => [plain("\n"), ...messageRuns(message), plain("\n")]),
      ];
    case "note":
      return [{ text: `📝 Note of ${item.author}\n`, styles: [bold] }, ...styledText(item.text)];
    case "event":
      return [{ text: item.text, styles: [italic] }];
  }
}

const signs: Readonly<Record<DeskMessage["role"], string>> = { user: "👤", assistant: "🤖", agent: "💬" };
const nameless: Readonly<Record<DeskMessage["role"], string>> = {
  user: "Customer",
  assistant: "Assistant",
  agent: "Agent",
};

const fileRun = (name: string, at: number): Run => ({
  text: `${at === 0 ? "" : "\n"}📎 ${name}`,
  styles: [italic],
});

function messageRuns(message: DeskMessage): readonly Run[] {
  const { role, authorName, confidence, text, files, sources } = message;
  const sure = confidence === null ? "" : ` (${confidence} confidence)`;
  const heading: Run = { text: `${signs[role]} ${authorName ?? nameless[role]}${sure}\n`, styles: [bold] };
  if (message.deleted) return [heading, { text: "This message was taken back.", styles: [italic] }];
  const edited: readonly Run[] = message.edited ? [{ text: " (edited)", styles: [italic] }] : [];
  const names = files.length === 0 ? [] : [plain(text === "" ? "" : "\n"), ...files.map(fileRun)];
  const answered: readonly Run[] =
    message.refersTo === null ? [] : [{ text: message.refersTo, styles: [{ kind: "quote" }] }, plain("\n")];
  if (role === "user") return [heading, ...answered, ...forwardedRuns(message), plain(text), ...edited, ...names];
  return [heading, ...styledText(text, sources), ...edited, ...names];
}

function forwardedRuns({ forwarded }: DeskMessage): readonly Run[] {
  if (forwarded === null) return [];
  return [
    { text: forwarded.from === null ? "Forwarded" : `Forwarded from ${forwarded.from}`, styles: [italic] },
    plain("\n"),
  ];
}

/** Placeholders for inline code and code blocks while the text around them is parsed. */
const codeMark = "\ue000";
const blockMark = "\ue001";

/**
 * Converts an agent's text from Slack's markup to Markdown. Slack marks bold, strikethrough and lists differently, and
 * characters that are plain in Slack must be plain in Markdown. `text` contains names instead of ids.
 */
export function markdownOf(text: string): string {
  const codes: string[] = [];
  const around = text
    .replaceAll(/[\ue000\ue001]/g, "\u{fffd}")
    .replaceAll(/```([\s\S]*?)```|`[^`\n]+`/g, (code: string, block: string | undefined) => {
      if (block?.trim() === "") return "";
      codes.push(block === undefined ? code : `\`\`\`\n${block.replace(/^\n+|\s+$/g, "")}\n\`\`\``);
      // A code block in Slack may start and end within a line, and Slack shows the text after the fence.
      return block === undefined ? codeMark : `\n${blockMark}\n`;
    });
  return marksOf(literal(around)).replaceAll(/[\ue000\ue001]/g, () => codes.shift() ?? "");
}

function marksOf(text: string): string {
  return text
    .replaceAll(/(?<![\w*])\*(?=\S)([^*\n]*[^*\s])\*(?![\w*])/g, "**$1**")
    .replaceAll(/(?<![\w~])~(?=\S)([^~\n]*[^~\s])~(?![\w~])/g, "~~$1~~")
    .replaceAll(/^[ \t]*[•◦▪][ \t]+(?=\S)/gm, "- ");
}

/** Escapes only what Markdown would consume, so that the source remains readable. */
function literal(text: string): string {
  const escaped = text
    .split(/(https?:\/\/[^\s\ue000]+)/i)
    .map((piece, i) => (i % 2 === 1 ? piece : piece.replaceAll(taken, "\\$&")))
    .join("");
  return separateBlocks(numbered(escaped).split("\n").map(literalLine)).join("\n");
}

/** Separates quotes and lists from the next line, which Markdown would otherwise add to them. */
function separateBlocks(lines: readonly string[]): readonly string[] {
  let within: "quote" | "list" | undefined;
  return lines.flatMap((line, at) => {
    const before = within;
    const [item, number = "1"] = /^[ \t]*(?:[-*•◦▪]|(\d{1,9})[.)])[ \t]+\S/u.exec(line) ?? [];
    // Directly below a text, only a list that starts with 1 is a list.
    const isWords = before === undefined && (lines[at - 1] ?? "").trim() !== "";
    const isItem = item !== undefined && (!isWords || Number(number) === 1);
    // In Slack, >>> quotes all following lines.
    if (/^[ \t]*>(?!>>)/.test(line)) within = "quote";
    else if (isItem) within = "list";
    else if (before !== "list" || !/^[ \t]+\S/.test(line)) within = undefined;
    const isMore = line.trim() === "" || within === before || (before === "list" && within === "quote");
    return before === undefined || isMore ? [line] : ["", line];
  });
}

/** Link definitions, HTML tags and entities, unclosed code, and backslashes before any of these. */
const taken = /\](?=:)|<(?=[a-z/!?])|&(?=#?\w+;)|`|\\(?=[!-/:-@[-`{-~\n\ue000]|$)/gi;

/** Escapes a line's start: Markdown reads deep indentation as code, and some characters as block markup. */
function literalLine(line: string): string {
  const [, indent = "", prefix = "", rest = ""] =
    /^([ \t]*)((?:>[ \t]*|(?:[-*•◦▪]|\d{1,9}\\?[.)])[ \t]+)*)(.*)$/u.exec(line) ?? [];
  const isSign = /^(?:#{1,6}(?:\s|$)|\+(?:\s|$)|~{3}|[-:|][-:| \t]*$|([=_*])[ \t]*(?:\1[ \t]*)*$)/.test(rest);
  const marks = prefix.replaceAll(/[ \t]+/g, " ");
  return [
    /\t| {4}/.test(indent) ? "   " : indent,
    // Markdown reads an empty item as the underline of a heading.
    rest === "" ? marks.replace(/[-*] $/, "\\$&") : marks,
    isSign ? "\\" : "",
    rest,
  ].join("");
}

/** Keeps an agent's numbers: Markdown would renumber the items 1 and 3 as 1 and 2. */
function numbered(text: string): string {
  const given = [...text.matchAll(/^[ \t]*(\d{1,9})[.)](?=\s|$)/gm)].map((match) => Number(match[1]));
  const isCounted = given.every((number, at) => at === 0 || number === (given[at - 1] ?? 0) + 1);
  return isCounted ? text : text.replaceAll(/^([ \t]*\d{1,9})([.)])(?=\s|$)/gm, "$1\\$2");
}

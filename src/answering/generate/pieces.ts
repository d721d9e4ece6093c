import { splitSentences } from "#language/words/sentences.ts";

/** A part of a model's answer that can be reviewed by itself. The text still contains the citation marks. */
export type Piece =
  | { readonly kind: "sentence"; readonly text: string; readonly begins: "paragraph" | "line" | null }
  | { readonly kind: "item"; readonly text: string; readonly lead: string; readonly ordered: boolean }
  | { readonly kind: "heading"; readonly text: string; readonly lead: string }
  /** `marks`: citations right after the block. */
  | { readonly kind: "table"; readonly rows: readonly string[]; readonly marks: string }
  | { readonly kind: "code"; readonly text: string; readonly language: string; readonly marks: string };

export interface Pieces {
  /** Adds text. Returns the pieces that it completes. */
  feed(delta: string): Piece[];
  /** Returns the remaining pieces. `cut`: the text was truncated, and an incomplete piece is dropped. */
  end(cut: boolean): Piece[];
}

const mark = String.raw`\[\^?(?:passages? ?)?\d{1,3}(?:\s*[,;]\s*\d{1,3})*\]`;
const marksAfterStop = new RegExp(String.raw`([.!?…。！？]["'”’)*_]*)((?:\s*${mark})+)`, "giu");
const onlyMarks = new RegExp(String.raw`^\s*(?:(?:sources?|citations?):?\s*)?(?:${mark}[\s.,]*)+$`, "iu");
/** Matches one citation mark. */
export const markPattern = new RegExp(mark, "giu");

const fence = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/u;
const heading = /^\s*(#{1,6})\s+(.*?)\s*#*\s*$/u;
const item = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$/u;
const row = /^\s*\|/u;
const rule = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/u;
/** Matches the beginning of a line that may not be prose. */
const undecided = /^\s*(?:[`~#|*+•>_-]|\d{1,9}(?:[.)]|$)|$)/u;
const undecidedMax = 12;

/** The sentences of a line, each with its citation marks. Does not split within brackets or code. */
function sentencesOf(line: string): string[] {
  const text = sameMarks(line).replaceAll(marksAfterStop, "$2$1");
  const parts = splitSentences(text);
  const sentences: string[] = [];
  let start = 0;
  let end = 0;
  for (const [index, part] of parts.entries()) {
    end = text.indexOf(part, end) + part.length;
    const open = text.slice(start, end);
    const isImage = open.endsWith("!") && parts[index + 1]?.startsWith("[") === true;
    if (index < parts.length - 1 && (isImage || !isClosed(open))) continue;
    sentences.push(open.trim());
    start = end;
  }
  return sentences;
}

const count = (text: string, sign: string): number => text.split(sign).length - 1;
const isClosed = (text: string): boolean =>
  count(text, "[") <= count(text, "]") && count(text, "(") <= count(text, ")") && count(text, "`") % 2 === 0;

/** Normalizes the brackets of citations, which differ between models. */
const sameMarks = (text: string): string => text.replaceAll("【", "[").replaceAll("】", "]");

/** The heading or list item that this line is. */
function pieceOf(line: string): Piece | undefined {
  if (rule.test(line)) return undefined;
  const title = heading.exec(line);
  if (title !== null) return { kind: "heading", lead: `${title[1]} `, text: title[2] ?? "" };
  const point = item.exec(line);
  if (point === null) return undefined;
  const [, indent = "", sign = "-", rest = ""] = point;
  return { kind: "item", lead: `${indent}${sign} `, text: rest, ordered: /\d/u.test(sign) };
}

export function createPieces(): Pieces {
  let line = "";
  /** True when sentences of the current line were already returned. */
  let begun = false;
  let begins: "paragraph" | "line" | null = "paragraph";
  let code: { readonly fence: string; readonly language: string; readonly lines: string[] } | undefined;
  let table: string[] = [];
  /** A complete block whose citations may be on the next line. */
  let pendingBlock: Extract<Piece, { kind: "table" | "code" }> | undefined;

  function addSentences(sentences: readonly string[], done: Piece[]): void {
    for (const sentence of sentences) {
      done.push({ kind: "sentence", text: sentence, begins });
      begins = null;
    }
  }

  function release(done: Piece[]): void {
    if (table.length > 0) {
      pendingBlock = { kind: "table", rows: table, marks: "" };
      table = [];
    }
    if (pendingBlock !== undefined) done.push(pendingBlock);
    pendingBlock = undefined;
  }

  function takeLine(whole: string, done: Piece[]): void {
    const text = sameMarks(whole.replace(/\r$/u, ""));
    if (code !== undefined) {
      if (text.trim().startsWith(code.fence) && /^\s*(?:`+|~+)\s*$/u.test(text)) {
        pendingBlock = { kind: "code", text: code.lines.join("\n"), language: code.language, marks: "" };
        code = undefined;
      } else code.lines.push(text);
      return;
    }
    if (begun) {
      begun = false;
      if (text.trim() !== "") addSentences(sentencesOf(text), done);
      begins = "line";
      return;
    }
    if (text.trim() === "") {
      begins = "paragraph";
      return;
    }
    if (row.test(text) && pendingBlock === undefined) {
      table.push(text.trim());
      return;
    }
    if (table.length > 0) {
      pendingBlock = { kind: "table", rows: table, marks: "" };
      table = [];
    }
    if (pendingBlock !== undefined && onlyMarks.test(text)) pendingBlock = { ...pendingBlock, marks: text };
    const attached = pendingBlock?.marks !== undefined && pendingBlock.marks !== "";
    release(done);
    if (!attached) takeBlock(text, done);
    begins = begins === "paragraph" ? begins : "line";
  }

  function takeBlock(text: string, done: Piece[]): void {
    const opening = fence.exec(text);
    const piece = pieceOf(text);
    if (opening !== null) code = { fence: opening[1] ?? "```", language: opening[2] ?? "", lines: [] };
    else if (piece !== undefined) done.push(piece);
    else if (row.test(text)) table.push(text.trim());
    else if (!rule.test(text)) addSentences(sentencesOf(text.replace(/^\s*>\s?/u, "")), done);
    if (opening !== null || piece !== undefined || rule.test(text)) begins = "paragraph";
  }

  /** Returns the complete sentences of an incomplete line. */
  function early(done: Piece[]): void {
    if (code !== undefined || table.length > 0 || pendingBlock !== undefined) return;
    if (!begun && (line.trim().length < undecidedMax || undecided.test(line))) return;
    const all = sentencesOf(line);
    const rest = all.at(-1) ?? "";
    // A bracket may start a citation of the previous sentence: wait for more.
    if (all.length < 2 || !/^[\p{L}\p{N}"'“‘(*_`]/u.test(rest)) return;
    addSentences(all.slice(0, -1), done);
    begun = true;
    line = `${rest}${/\s*$/u.exec(line)?.[0] ?? ""}`;
  }

  return {
    feed(delta) {
      const done: Piece[] = [];
      line += delta;
      for (let end = line.indexOf("\n"); end !== -1; end = line.indexOf("\n")) {
        const whole = line.slice(0, end);
        line = line.slice(end + 1);
        takeLine(whole, done);
      }
      early(done);
      return done;
    },
    end(cut) {
      const done: Piece[] = [];
      const whole = /[.!?…。！？:][\])"'”’*_]*\s*$/u.test(line.replaceAll(markPattern, "").trimEnd());
      if (!cut || whole) takeLine(line, done);
      // An unclosed code block is accepted unless the text was truncated.
      if (code !== undefined && !cut)
        pendingBlock = { kind: "code", text: code.lines.join("\n"), language: code.language, marks: "" };
      code = undefined;
      release(done);
      line = "";
      return done;
    },
  };
}

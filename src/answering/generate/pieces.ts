import { splitSentences } from "#language/sentences.ts";

/** What a model writes, cut into what can be judged by itself. Marks of citation are still in the text. */
export type Piece =
  | { readonly kind: "sentence"; readonly text: string; readonly begins: "paragraph" | "line" | null }
  | { readonly kind: "item"; readonly text: string; readonly lead: string; readonly ordered: boolean }
  | { readonly kind: "heading"; readonly text: string; readonly lead: string }
  /** `marks`: citations that stand right behind it. */
  | { readonly kind: "table"; readonly rows: readonly string[]; readonly marks: string }
  | { readonly kind: "code"; readonly text: string; readonly language: string; readonly marks: string };

export interface Pieces {
  /** The pieces that are complete with this. */
  feed(delta: string): Piece[];
  /** The rest. `cut`: the text ends before its end, and what is not complete is left out. */
  end(cut: boolean): Piece[];
}

const mark = String.raw`\[\^?(?:passages? ?)?\d{1,3}(?:\s*[,;]\s*\d{1,3})*\]`;
const marksAfterStop = new RegExp(String.raw`([.!?…。！？]["'”’)*_]*)((?:\s*${mark})+)`, "giu");
const onlyMarks = new RegExp(String.raw`^\s*(?:(?:sources?|citations?):?\s*)?(?:${mark}[\s.,]*)+$`, "iu");
/** Each mark by itself, for those who read them. */
export const markPattern = new RegExp(mark, "giu");

const fence = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/u;
const heading = /^\s*(#{1,6})\s+(.*?)\s*#*\s*$/u;
const item = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$/u;
const row = /^\s*\|/u;
const rule = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/u;
/** How a line begins that may become something else than prose. */
const undecided = /^\s*(?:[`~#|*+•>_-]|\d{1,9}(?:[.)]|$)|$)/u;
const undecidedMax = 12;

/** The sentences of a line, each with the marks behind its full stop, none cut within brackets or code. */
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

/** Models write citations in several ways. */
const sameMarks = (text: string): string => text.replaceAll("【", "[").replaceAll("】", "]");

export function createPieces(): Pieces {
  let line = "";
  /** The line's beginning was given already, as sentences. */
  let begun = false;
  let begins: "paragraph" | "line" | null = "paragraph";
  let code: { readonly fence: string; readonly language: string; readonly lines: string[] } | undefined;
  let table: string[] = [];
  /** A block that waits for the marks behind it. */
  let waiting: Extract<Piece, { kind: "table" | "code" }> | undefined;

  function sentences(text: string, done: Piece[]): void {
    for (const sentence of sentencesOf(text)) {
      done.push({ kind: "sentence", text: sentence, begins });
      begins = null;
    }
  }

  function release(done: Piece[]): void {
    if (table.length > 0) {
      waiting = { kind: "table", rows: table, marks: "" };
      table = [];
    }
    if (waiting !== undefined) done.push(waiting);
    waiting = undefined;
  }

  function takeLine(whole: string, done: Piece[]): void {
    const text = sameMarks(whole.replace(/\r$/u, ""));
    if (code !== undefined) {
      if (text.trim().startsWith(code.fence) && /^\s*(?:`+|~+)\s*$/u.test(text)) {
        waiting = { kind: "code", text: code.lines.join("\n"), language: code.language, marks: "" };
        code = undefined;
      } else code.lines.push(text);
      return;
    }
    if (begun) {
      begun = false;
      if (text.trim() !== "") sentences(text, done);
      begins = "line";
      return;
    }
    if (text.trim() === "") {
      begins = "paragraph";
      return;
    }
    if (row.test(text) && waiting === undefined) {
      table.push(text.trim());
      return;
    }
    if (table.length > 0) {
      waiting = { kind: "table", rows: table, marks: "" };
      table = [];
    }
    if (waiting !== undefined && onlyMarks.test(text)) waiting = { ...waiting, marks: text };
    const attached = waiting?.marks !== undefined && waiting.marks !== "";
    release(done);
    if (!attached) takeBlock(text, done);
    begins = begins === "paragraph" ? begins : "line";
  }

  function takeBlock(text: string, done: Piece[]): void {
    const opening = fence.exec(text);
    const title = heading.exec(text);
    const point = item.exec(text);
    if (opening !== null) code = { fence: opening[1] ?? "```", language: opening[2] ?? "", lines: [] };
    else if (rule.test(text)) begins = "paragraph";
    else if (title !== null) done.push({ kind: "heading", lead: `${title[1]} `, text: title[2] ?? "" });
    else if (point !== null) {
      const [, indent = "", sign = "-", rest = ""] = point;
      done.push({ kind: "item", lead: `${indent}${sign} `, text: rest, ordered: /\d/u.test(sign) });
    } else if (row.test(text)) table.push(text.trim());
    else sentences(text.replace(/^\s*>\s?/u, ""), done);
    if (opening !== null || title !== null || point !== null) begins = "paragraph";
  }

  /** Of a line that is not complete, the sentences that are. */
  function early(done: Piece[]): void {
    if (code !== undefined || table.length > 0 || waiting !== undefined) return;
    if (!begun && (line.trim().length < undecidedMax || undecided.test(line))) return;
    const all = sentencesOf(line);
    const rest = all.at(-1) ?? "";
    // What begins with a bracket may be the mark of the sentence before it.
    if (all.length < 2 || !/^[\p{L}\p{N}"'“‘(*_`]/u.test(rest)) return;
    for (const sentence of all.slice(0, -1)) {
      done.push({ kind: "sentence", text: sentence, begins });
      begins = null;
    }
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
      // Code without its end is code all the same, unless the text was cut.
      if (code !== undefined && !cut)
        waiting = { kind: "code", text: code.lines.join("\n"), language: code.language, marks: "" };
      code = undefined;
      release(done);
      line = "";
      return done;
    },
  };
}

import { splitSentences } from "#language/words/sentences.ts";
import type { CitationOptions } from "./citations.ts";
import { createCitations } from "./citations.ts";
import type { Piece } from "./pieces.ts";
import { isPleasantry } from "./pleasantries.ts";
import { squeeze } from "./support.ts";

export interface Review {
  /** Returns the text that can be shown after these pieces. */
  take(pieces: readonly Piece[]): string;
  /** The result of all pieces so far. */
  sum(): {
    /** Number of statements shown. */
    readonly kept: number;
    readonly dropped: number;
    /** Indexes of the cited passages, in the order of the citation marks. */
    readonly cited: readonly number[];
  };
}

type Shown = "sentence" | "item" | "block";

/**
 * Passes statements that their cited passages support, and drops the others before they are streamed. Introductions are
 * buffered until a statement that they introduce is shown.
 */
export function createReview(options: CitationOptions): Review {
  const { leaks } = options;
  const { cited, marks, read, supporters, supportersByWords, sourceOfLines, withMarks } = createCitations(options);
  let kept = 0;
  let dropped = 0;
  let shown: Shown | null = null;
  let out = "";
  /** Buffered greetings, headings and announcements. Shown with the next supported statement. */
  let pending: { readonly separator: string; readonly text: string; readonly kind: Shown; readonly free: boolean }[] =
    [];
  /** Citations of the sentence before a list, table or code block. Apply to parts without citations of their own. */
  let announced: readonly number[] = [];
  /** True after a dropped step: the steps after it would mislead. */
  let gap = false;

  function show(kind: Shown, separator: string, text: string): void {
    if (shown !== null) out += shown === kind ? separator : "\n\n";
    out += text;
    shown = kind;
  }

  /** Shows the pending texts that the cited passages support. */
  function lead(indexes: readonly number[]): void {
    const introductions = pending;
    pending = [];
    for (const each of introductions) {
      const stays =
        each.free || supportersByWords(each.text.replace(/^#+ /u, "").replace(/:\s*$/u, ""), indexes) !== undefined;
      if (stays) show(each.kind, each.separator, each.text);
    }
  }

  function keep(kind: Shown, separator: string, body: string, indexes: readonly number[]): void {
    lead(indexes);
    show(kind, separator, withMarks(body, indexes));
    kept += 1;
  }

  function sentence({ text, begins }: Extract<Piece, { kind: "sentence" }>): void {
    const { body, cited: from } = read(text);
    const separator = begins === "paragraph" ? "\n\n" : begins === "line" ? "\n" : " ";
    announced = [];
    gap = false;
    if (body === "" || !/[\p{L}\p{N}]/u.test(body)) return;
    if (from.length === 0) {
      if (leaks(body)) dropped += 1;
      else if (isPleasantry(body)) {
        // A pleasantry before the answer is an introduction, one after it is shown at once.
        if (kept > 0 && !body.endsWith(":")) show("sentence", separator, body);
        else pending.push({ separator, text: body, kind: "sentence", free: true });
      } else if (body.endsWith(":")) pending.push({ separator, text: body, kind: "sentence", free: false });
      else dropped += 1;
      return;
    }
    const found = supporters(body, from);
    if (found === undefined) {
      // The list after a wrong announcement can still be supported by its own citations.
      dropped += 1;
      pending = pending.filter(({ free }) => free);
      return;
    }
    if (!body.endsWith(":")) {
      keep("sentence", separator, body, found);
      return;
    }
    announced = found;
    pending.push({ separator, text: withMarks(body, found), kind: "sentence", free: true });
  }

  function item({ text, lead: sign, ordered }: Extract<Piece, { kind: "item" }>): void {
    if (ordered && gap) {
      dropped += 1;
      return;
    }
    const { body, cited: own } = read(text);
    const from = own.length > 0 ? own : announced;
    const whole = supporters(body, from);
    if (whole !== undefined) {
      keep("item", "\n", `${sign}${body}`, whole);
      return;
    }
    // Other sentences of a bullet stay when one is dropped. A step is kept or dropped as a whole.
    const parts = ordered ? [] : splitSentences(body).map((each) => ({ each, found: supportersByWords(each, from) }));
    const good = parts.filter(({ found }) => found !== undefined);
    dropped += Math.max(1, parts.length - good.length);
    if (good.length > 0) {
      const said = good.map(({ each }) => each).join(" ");
      keep("item", "\n", `${sign}${said}`, [...new Set(good.flatMap(({ found }) => found ?? []))]);
    } else if (ordered) gap = true;
  }

  function table({ rows, marks: behind }: Extract<Piece, { kind: "table" }>): void {
    const hasHeading = /^\|?[\s:|-]*-{2,}[\s:|-]*$/u.test(rows[1] ?? "");
    const all = read(`${rows.join(" ")} ${behind}`).cited;
    const fallback = all.length > 0 ? all : announced;
    const supported: { readonly cells: readonly string[]; readonly sources: readonly number[] }[] = [];
    for (const row of rows.slice(hasHeading ? 2 : 0)) {
      const { body, cited: own } = read(row);
      const cells = cellsOf(body);
      const sources = supporters(cells.join(" "), own.length > 0 ? own : fallback);
      if (sources === undefined) dropped += 1;
      else supported.push({ cells, sources });
    }
    if (supported.length === 0) return;
    lead([...new Set(supported.flatMap(({ sources }) => sources))]);
    const lines = supported.map(({ cells, sources }) => [
      ...cells.slice(0, -1),
      `${cells.at(-1) ?? ""} ${marks(sources)}`,
    ]);
    const width = supported[0]?.cells.length ?? 1;
    // Headings are not checked against the source: they must hold no digits, and must not leak the prompt.
    const header = hasHeading
      ? cellsOf(read(rows[0] ?? "").body).map((cell) => (plainHeading.test(cell) && !leaks(cell) ? cell : ""))
      : Array.from({ length: width }, () => "");
    const rule = `|${" --- |".repeat(Math.max(width, header.length))}`;
    show("block", "\n\n", [rowOf(header), rule, ...lines.map(rowOf)].join("\n"));
    kept += supported.length;
  }

  function code({ text, language, marks: behind }: Extract<Piece, { kind: "code" }>): void {
    const own = read(behind).cited;
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const source = sourceOfLines(lines.map(squeeze), own.length > 0 ? own : announced);
    if (lines.length === 0 || source === undefined || leaks(text)) {
      dropped += 1;
      return;
    }
    lead([source]);
    let fence = "```";
    while (text.includes(fence)) fence += "`";
    show("block", "\n\n", `${fence}${/^[a-z0-9+#-]{0,20}$/iu.test(language) ? language : ""}\n${text}\n${fence}`);
    show("sentence", "\n\n", marks([source]));
    kept += 1;
  }

  function heading({ text, lead: sign }: Extract<Piece, { kind: "heading" }>): void {
    const { body } = read(text);
    gap = false;
    announced = [];
    pending = pending.filter(({ kind }) => kind !== "block");
    if (body !== "") pending.push({ separator: "\n\n", text: `${sign}${body}`, kind: "block", free: false });
  }

  function takeOne(piece: Piece): void {
    switch (piece.kind) {
      case "sentence":
        return sentence(piece);
      case "item":
        return item(piece);
      case "heading":
        return heading(piece);
      case "table":
        return table(piece);
      case "code":
        return code(piece);
    }
  }

  return {
    take(pieces) {
      out = "";
      for (const piece of pieces) takeOne(piece);
      return out;
    },
    sum: () => ({ kept, dropped, cited }),
  };
}

const plainHeading = /^[\p{L}\p{M} ()/%€$£-]{0,40}$/u;

const rowOf = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function cellsOf(row: string): string[] {
  return row
    .replace(/^\|/u, "")
    .replace(/\|\s*$/u, "")
    .split("|")
    .map((cell) => cell.trim());
}

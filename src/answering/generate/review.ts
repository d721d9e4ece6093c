import type { Strictness } from "#domain/workspace/settings.ts";
import { splitSentences } from "#language/sentences.ts";
import type { Piece } from "./pieces.ts";
import { markPattern } from "./pieces.ts";
import { isPleasantry } from "./pleasantries.ts";
import type { Evidence } from "./support.ts";
import { objectionTo, squeeze } from "./support.ts";

export interface ReviewOptions {
  /** The evidence of each passage, in the order of their numbers. */
  readonly evidence: readonly Evidence[];
  readonly strictness: Strictness;
  /** How many passages the answer can cite. */
  readonly sourcesMax: number;
  readonly leaks: (text: string) => boolean;
  /** Prepares a text for the comparison with the evidence: removes placeholders. */
  readonly judged: (text: string) => string;
}

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

interface Marked {
  readonly body: string;
  /** Indexes of the cited passages. Numbers without a passage are left out. */
  readonly cited: readonly number[];
}

type Shown = "sentence" | "item" | "block";

/**
 * Passes statements that their cited passages support, and drops the others before they are streamed. Introductions are
 * buffered until a statement that they introduce is shown.
 */
export function createReview({ evidence, strictness, sourcesMax, leaks, judged }: ReviewOptions): Review {
  const cited: number[] = [];
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

  function read(text: string): Marked {
    const numbers = [...text.matchAll(markPattern)].flatMap(([mark]) => mark.match(/\d+/gu) ?? []).map(Number);
    const body = text
      .replaceAll(markPattern, "")
      .replaceAll(/[ \t]+(?=[.,;:!?。](?:\s|$))/gu, "")
      .replaceAll(/ {2,}/gu, " ")
      .trim();
    return { body, cited: [...new Set(numbers)].map((number) => number - 1).filter((index) => index in evidence) };
  }

  /** The passages that support a statement, as far as `sourcesMax` allows. Undefined when none does. */
  function supporters(body: string, from: readonly number[]): readonly number[] | undefined {
    if (from.length === 0 || leaks(body)) return undefined;
    const text = judged(body);
    const pick = (indexes: readonly number[]): Evidence[] =>
      indexes.map((index) => evidence[index]).filter((each) => each !== undefined);
    const alone = from.filter((index) => objectionTo(text, pick([index]), strictness) === undefined);
    const found = alone.length > 0 ? alone : objectionTo(text, pick(from), strictness) === undefined ? from : [];
    const room = sourcesMax - cited.length;
    const fresh = found.filter((index) => !cited.includes(index));
    const allowed = found.filter((index) => cited.includes(index) || fresh.indexOf(index) < room);
    // Passages that support it only together must all be citable.
    return allowed.length === 0 || (alone.length === 0 && allowed.length < found.length) ? undefined : allowed;
  }

  function marks(indexes: readonly number[]): string {
    for (const index of indexes) if (!cited.includes(index)) cited.push(index);
    return indexes
      .map((index) => cited.indexOf(index) + 1)
      .toSorted((left, right) => left - right)
      .map((number) => `[${number}]`)
      .join("");
  }

  function withMarks(body: string, indexes: readonly number[]): string {
    const named = marks(indexes);
    return body.endsWith(":") ? `${body.slice(0, -1)} ${named}:` : `${body} ${named}`;
  }

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
        each.free || supporters(each.text.replace(/^#+ /u, "").replace(/:\s*$/u, ""), indexes) !== undefined;
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
    const parts = ordered ? [] : splitSentences(body).map((each) => ({ each, found: supporters(each, from) }));
    const good = parts.filter(({ found }) => found !== undefined);
    dropped += Math.max(1, parts.length - good.length);
    if (good.length > 0) {
      const said = good.map(({ each }) => each).join(" ");
      keep("item", "\n", `${sign}${said}`, [...new Set(good.flatMap(({ found }) => found ?? []))]);
    } else if (ordered) gap = true;
  }

  function table({ rows, marks: behind }: Extract<Piece, { kind: "table" }>): void {
    const headed = /^\|?[\s:|-]*-{2,}[\s:|-]*$/u.test(rows[1] ?? "");
    const all = read(`${rows.join(" ")} ${behind}`).cited;
    const fallback = all.length > 0 ? all : announced;
    const good: { readonly cells: readonly string[]; readonly found: readonly number[] }[] = [];
    for (const row of rows.slice(headed ? 2 : 0)) {
      const { body, cited: own } = read(row);
      const cells = cellsOf(body);
      const found = supporters(cells.join(" "), own.length > 0 ? own : fallback);
      if (found === undefined) dropped += 1;
      else good.push({ cells, found });
    }
    if (good.length === 0) return;
    const heading = headed ? cellsOf(read(rows[0] ?? "").body) : [];
    const used = [...new Set(good.flatMap(({ found }) => found))];
    // Table headings are not checked against the source: they must hold no digits, and must not leak the prompt.
    const plainly = heading.map((cell) => (/^[\p{L}\p{M} ()/%€$£-]{0,40}$/u.test(cell) && !leaks(cell) ? cell : ""));
    lead(used);
    const lines = good.map(
      ({ cells, found }) => `| ${[...cells.slice(0, -1), `${cells.at(-1) ?? ""} ${marks(found)}`].join(" | ")} |`,
    );
    const width = good[0]?.cells.length ?? 1;
    const top = headed ? plainly : Array.from({ length: width }, () => "");
    show(
      "block",
      "\n\n",
      [`| ${top.join(" | ")} |`, `|${" --- |".repeat(Math.max(width, top.length))}`, ...lines].join("\n"),
    );
    kept += good.length;
  }

  function code({ text, language, marks: behind }: Extract<Piece, { kind: "code" }>): void {
    const own = read(behind).cited;
    const from = own.length > 0 ? own : announced;
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const found = from.filter((index) => lines.every((line) => evidence[index]?.line.includes(squeeze(line)) === true));
    const [first] = found;
    const isRoom = first !== undefined && (cited.includes(first) || cited.length < sourcesMax);
    if (lines.length === 0 || !isRoom || leaks(text)) {
      dropped += 1;
      return;
    }
    lead([first]);
    let fence = "```";
    while (text.includes(fence)) fence += "`";
    show("block", "\n\n", `${fence}${/^[a-z0-9+#-]{0,20}$/iu.test(language) ? language : ""}\n${text}\n${fence}`);
    show("sentence", "\n\n", marks([first]));
    kept += 1;
  }

  return {
    take(pieces) {
      out = "";
      for (const piece of pieces) {
        switch (piece.kind) {
          case "sentence":
            sentence(piece);
            break;
          case "item":
            item(piece);
            break;
          case "heading": {
            const { body } = read(piece.text);
            gap = false;
            announced = [];
            pending = pending.filter(({ kind }) => kind !== "block");
            if (body !== "")
              pending.push({ separator: "\n\n", text: `${piece.lead}${body}`, kind: "block", free: false });
            break;
          }
          case "table":
            table(piece);
            break;
          case "code":
            code(piece);
            break;
        }
      }
      return out;
    },
    sum: () => ({ kept, dropped, cited }),
  };
}

function cellsOf(row: string): string[] {
  return row
    .replace(/^\|/u, "")
    .replace(/\|\s*$/u, "")
    .split("|")
    .map((cell) => cell.trim());
}

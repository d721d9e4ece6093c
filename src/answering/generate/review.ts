import type { Strictness } from "#domain/workspace/settings.ts";
import { splitSentences } from "#language/sentences.ts";
import type { Piece } from "./pieces.ts";
import { markPattern } from "./pieces.ts";
import { isPleasantry } from "./pleasantries.ts";
import type { Evidence } from "./support.ts";
import { objectionTo, squeeze } from "./support.ts";

export interface ReviewOptions {
  /** What each passage says, in the order of their numbers. */
  readonly evidence: readonly Evidence[];
  readonly strictness: Strictness;
  /** How many passages the answer can name. */
  readonly sourcesMax: number;
  readonly leaks: (text: string) => boolean;
  /** A text as it is judged. */
  readonly judged: (text: string) => string;
}

export interface Review {
  /** What of these pieces can be shown now. */
  take(pieces: readonly Piece[]): string;
  /** What came of all that was taken so far. */
  sum(): {
    /** Statements. */
    readonly kept: number;
    readonly dropped: number;
    /** Indexes of the passages that the shown text names, in the order of its marks. */
    readonly cited: readonly number[];
  };
}

interface Marked {
  readonly body: string;
  /** Indexes of the passages that it names; those that do not exist left out. */
  readonly cited: readonly number[];
}

type Shown = "sentence" | "item" | "block";

/**
 * Lets pass what a passage that is named for it supports, and drops the rest before anybody sees it. What leads to
 * something is held until that is known to stay.
 */
export function createReview({ evidence, strictness, sourcesMax, leaks, judged }: ReviewOptions): Review {
  const cited: number[] = [];
  let kept = 0;
  let dropped = 0;
  let shown: Shown | null = null;
  let out = "";
  /** Greetings, headings and announcements whose time comes with what they lead to. */
  let held: { readonly separator: string; readonly text: string; readonly kind: Shown; readonly free: boolean }[] = [];
  /** What the sentence before a list, a table or a listing names, for those of its parts that name nothing. */
  let announced: readonly number[] = [];
  /** A step is missing: those after it would mislead. */
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

  /** The passages that support it; undefined where they do not. */
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
    // Two that support it only together cannot do with one.
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

  /** Shows what was held, as far as it fits to what comes. */
  function lead(indexes: readonly number[]): void {
    const waiting = held;
    held = [];
    for (const each of waiting) {
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
        // After the answer it closes, before it it leads.
        if (kept > 0 && !body.endsWith(":")) show("sentence", separator, body);
        else held.push({ separator, text: body, kind: "sentence", free: true });
      } else if (body.endsWith(":")) held.push({ separator, text: body, kind: "sentence", free: false });
      else dropped += 1;
      return;
    }
    const found = supporters(body, from);
    if (found === undefined) {
      // What is announced wrongly may still follow rightly, with marks of its own.
      dropped += 1;
      held = held.filter(({ free }) => free);
      return;
    }
    if (!body.endsWith(":")) {
      keep("sentence", separator, body, found);
      return;
    }
    announced = found;
    held.push({ separator, text: withMarks(body, found), kind: "sentence", free: true });
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
    // One wrong sentence need not take the others of its item with it, but a step is done as a whole.
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
    // A heading may be put freely, but tells no facts and gives nothing away.
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
            held = held.filter(({ kind }) => kind !== "block");
            if (body !== "") held.push({ separator: "\n\n", text: `${piece.lead}${body}`, kind: "block", free: false });
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

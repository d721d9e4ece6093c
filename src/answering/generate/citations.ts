import type { Strictness } from "#domain/workspace/settings.ts";
import type { OpenStatements } from "./open-statements.ts";
import { markPattern } from "./pieces.ts";
import type { Evidence } from "./support.ts";
import { isVetoed, objectionTo } from "./support.ts";

export interface CitationOptions {
  /** The evidence of each passage, in the order of their numbers. */
  readonly evidence: readonly Evidence[];
  readonly strictness: Strictness;
  /** How many passages the answer can cite. */
  readonly sourcesMax: number;
  readonly leaks: (text: string) => boolean;
  /** Prepares a text for the comparison with the evidence: removes placeholders. */
  readonly judged: (text: string) => string;
  /** Statements that a model decides about. Absent: words decide alone. */
  readonly open?: OpenStatements;
}

interface Marked {
  readonly body: string;
  /** Indexes of the cited passages. Numbers without a passage are left out. */
  readonly cited: readonly number[];
}

/** The passages that an answer cites. Renumbers them in the order in which they are shown. */
export function createCitations({ evidence, strictness, sourcesMax, leaks, judged, open }: CitationOptions) {
  const cited: number[] = [];

  function marks(indexes: readonly number[]): string {
    for (const index of indexes) if (!cited.includes(index)) cited.push(index);
    return indexes
      .map((index) => cited.indexOf(index) + 1)
      .toSorted((left, right) => left - right)
      .map((number) => `[${number}]`)
      .join("");
  }

  /** The passages that support a statement, as far as `sourcesMax` allows. Undefined when none does. */
  function supporters(body: string, from: readonly number[], mayAsk = true): readonly number[] | undefined {
    if (from.length === 0 || leaks(body)) return undefined;
    const text = judged(body);
    const pick = (indexes: readonly number[]): Evidence[] =>
      indexes.map((index) => evidence[index]).filter((each) => each !== undefined);
    const alone = from.filter((index) => objectionTo(text, pick([index]), strictness) === undefined);
    const byWords = alone.length > 0 ? alone : objectionTo(text, pick(from), strictness) === undefined ? from : [];
    const found =
      open === undefined || !mayAsk
        ? byWords
        : open.supporters({ text: body, passages: from }, byWords, () => isVetoed(text, pick(from), open.isTranslated));
    const room = sourcesMax - cited.length;
    const fresh = found.filter((index) => !cited.includes(index));
    const allowed = found.filter((index) => cited.includes(index) || fresh.indexOf(index) < room);
    // Passages that support it only together must all be citable.
    return allowed.length === 0 || (alone.length === 0 && allowed.length < found.length) ? undefined : allowed;
  }

  return {
    /** Indexes of the cited passages, in the order of the citation marks. */
    cited: cited as readonly number[],
    marks,
    read(text: string): Marked {
      const numbers = [...text.matchAll(markPattern)].flatMap(([mark]) => mark.match(/\d+/gu) ?? []).map(Number);
      const body = text
        .replaceAll(markPattern, "")
        .replaceAll(/[ \t]+(?=[.,;:!?。](?:\s|$))/gu, "")
        .replaceAll(/ {2,}/gu, " ")
        .trim();
      return { body, cited: [...new Set(numbers)].map((number) => number - 1).filter((index) => index in evidence) };
    },
    supporters,
    /** Like `supporters`, by comparison of words alone: for headings, introductions and parts of an item. */
    supportersByWords: (body: string, from: readonly number[]) => supporters(body, from, false),
    /** The first of these passages that holds every line of a code block. */
    sourceOfLines(lines: readonly string[], from: readonly number[]): number | undefined {
      const found = from.find((index) => lines.every((line) => evidence[index]?.line.includes(line) === true));
      return found !== undefined && (cited.includes(found) || cited.length < sourcesMax) ? found : undefined;
    },
    withMarks(body: string, indexes: readonly number[]): string {
      const numbers = marks(indexes);
      return body.endsWith(":") ? `${body.slice(0, -1)} ${numbers}:` : `${body} ${numbers}`;
    },
  };
}

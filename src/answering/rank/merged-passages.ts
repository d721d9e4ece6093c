import { readUnits } from "#knowledge/documents/chunk-text.ts";
import type { Unit } from "#knowledge/documents/chunk-text.ts";
import type { Candidate } from "#knowledge/index/contract.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import type { Ranked } from "./ranking.ts";
import { memoize } from "#runtime/memoize.ts";
import { informativeUnits } from "./informative.ts";
import { wordCount } from "#language/terms.ts";

/** What is known of a unit whatever is asked. */
interface PassagePiece {
  readonly unit: Unit;
  readonly words: number;
  /** Tells the reader something. Not so: where else to read, what the page is about, its table of contents. */
  readonly tells: boolean;
  /** Can be an answer by itself, as no heading, code, bare link or fragment can. */
  readonly answers: boolean;
}

/** A unit in its place, with the passage it is from. */
export interface Placed extends PassagePiece {
  readonly passage: Ranked;
  /** What was asked for and stands in the unit; and in it or the headings above it. */
  readonly terms: ReadonlySet<string>;
  readonly titled: ReadonlySet<string>;
}

/** Passages that follow each other in a document are read as one, their overlap once. */
export function mergedPassages(ranked: readonly Ranked[], asked: AskedTerms): Placed[][] {
  const inOrder = ranked.toSorted(
    (left, right) =>
      (left.candidate.documentId < right.candidate.documentId
        ? -1
        : left.candidate.documentId > right.candidate.documentId
          ? 1
          : 0) || left.candidate.position - right.candidate.position,
  );
  const strips: Placed[][] = [];
  let before: Candidate | undefined;
  for (const passage of inOrder) {
    const { candidate } = passage;
    const units = placeUnits(passage, asked);
    const strip = strips.at(-1);
    const follows = before?.documentId === candidate.documentId && before.position + 1 === candidate.position;
    if (strip !== undefined && follows) {
      if (before?.title !== candidate.title) strip.push(headingOf(passage, asked));
      const overlap = strip.at(-1)?.unit.text === units[0]?.unit.text ? 1 : 0;
      strip.push(...units.slice(overlap));
    } else strips.push(units);
    before = candidate;
  }
  return strips;
}

/** What parts a section from the one before it. */
function headingOf(passage: Ranked, asked: AskedTerms): Placed {
  const { title, titleTerms } = passage.candidate;
  const terms = askedIn(titleTerms, asked);
  const text = title.split(" › ").at(-1) ?? "";
  return { ...pieceOf({ kind: "heading", text }, true), passage, terms, titled: terms };
}

/** A thousand passages: the ones that most questions are about. */
const charactersKept = 1_000_000;

const readPassage = memoize(charactersKept, (text) => {
  const units = readUnits(text);
  const telling = informativeUnits(units);
  return units.map((unit, index) => pieceOf(unit, telling[index] ?? true));
});

function pieceOf(unit: Unit, tells: boolean): PassagePiece {
  const words = wordCount(unit.text);
  const says = words >= 3 || unit.kind !== "sentence" || /\d/.test(unit.text);
  const answers = tells && unit.kind !== "heading" && unit.kind !== "code" && says && !isLinkOnly(unit.text);
  return { unit, words, tells, answers };
}

/** A line of nothing but addresses. */
function isLinkOnly(text: string): boolean {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return words.length > 0 && words.every((word) => /^\P{L}*(?:https?:\/\/|www\.)/iu.test(word));
}

function placeUnits(passage: Ranked, asked: AskedTerms): Placed[] {
  const title = askedIn(passage.candidate.titleTerms, asked);
  let under = title;
  return readPassage(passage.candidate.text).map((piece) => {
    const terms = askedIn(asked.termsOf(piece.unit.text), asked);
    // A heading inside the passage speaks for what stands under it.
    if (piece.unit.kind === "heading") under = union(title, terms);
    return { ...piece, passage, terms, titled: union(under, terms) };
  });
}

function askedIn(terms: readonly string[], asked: AskedTerms): Set<string> {
  return new Set(asked.askedIn(terms).map(({ term }) => term));
}

/** The share of what was asked that these terms hold, by weight. */
export function weigh(terms: ReadonlySet<string>, asked: AskedTerms): number {
  let held = 0;
  let all = 0;
  for (const [term, weight] of asked.weights) {
    all += weight;
    if (terms.has(term)) held += weight;
  }
  return all === 0 ? 0 : held / all;
}

export function union(...sets: readonly (ReadonlySet<string> | undefined)[]): Set<string> {
  const all = new Set<string>();
  for (const set of sets) for (const term of set ?? []) all.add(term);
  return all;
}

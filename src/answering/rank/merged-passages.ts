import { readUnits } from "#knowledge/documents/chunk-text.ts";
import type { Unit } from "#knowledge/documents/chunk-text.ts";
import type { Candidate } from "#knowledge/index/contract.ts";
import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import type { Ranked } from "./ranked.ts";
import { memoize } from "#runtime/memoize.ts";
import { informativeUnits } from "./informative.ts";
import { wordCount } from "#language/words/terms.ts";

/** A unit with the properties that do not depend on the question. */
interface PassagePiece {
  readonly unit: Unit;
  readonly words: number;
  /** False for cross references, announcements of a page's content and tables of contents. */
  readonly informative: boolean;
  /** True when the unit alone can be an answer. False for headings, code, bare links and fragments. */
  readonly answers: boolean;
}

/** A unit with its passage and the question terms it matches. */
export interface Placed extends PassagePiece {
  readonly passage: Ranked;
  /** Question terms in the unit itself. */
  readonly terms: ReadonlySet<string>;
  /** Question terms in the unit or in the headings above it. */
  readonly titled: ReadonlySet<string>;
}

/**
 * Merges consecutive passages of a document, and drops the overlap between them. Each inner list is one merged
 * passage, in reading order.
 */
export function mergedPassages(ranked: readonly Ranked[], asked: AskedTerms): Placed[][] {
  const inOrder = ranked.toSorted(
    (left, right) =>
      (left.candidate.documentId < right.candidate.documentId
        ? -1
        : left.candidate.documentId > right.candidate.documentId
          ? 1
          : 0) || left.candidate.position - right.candidate.position,
  );
  const merged: Placed[][] = [];
  let before: Candidate | undefined;
  for (const passage of inOrder) {
    const { candidate } = passage;
    const units = placeUnits(passage, asked);
    const last = merged.at(-1);
    const follows = before?.documentId === candidate.documentId && before.position + 1 === candidate.position;
    if (last !== undefined && follows) {
      if (before?.title !== candidate.title) last.push(headingOf(passage, asked));
      const overlap = last.at(-1)?.unit.text === units[0]?.unit.text ? 1 : 0;
      last.push(...units.slice(overlap));
    } else merged.push(units);
    before = candidate;
  }
  return merged;
}

/** The heading to insert between two merged sections. */
function headingOf(passage: Ranked, asked: AskedTerms): Placed {
  const { title, titleTerms } = passage.candidate;
  const terms = askedIn(titleTerms, asked);
  const text = title.split(" › ").at(-1) ?? "";
  return { ...pieceOf({ kind: "heading", text }, true, false), passage, terms, titled: terms };
}

/** Room for about a thousand passages, enough for those that most questions hit. */
const charactersKept = 1_000_000;

const readPassage = memoize(charactersKept, (text) => {
  const units = readUnits(text);
  const informative = informativeUnits(units);
  return units.map((unit, index) => pieceOf(unit, informative[index] ?? true, units.length === 1));
});

/** `isAll`: the passage holds nothing else, so a word is an answer to its heading: "Ten years." */
function pieceOf(unit: Unit, informative: boolean, isAll: boolean): PassagePiece {
  const words = wordCount(unit.text);
  const isWhole = isAll || words >= 3 || unit.kind !== "sentence" || /\d/.test(unit.text);
  const answers = informative && unit.kind !== "heading" && unit.kind !== "code" && isWhole && !isLinkOnly(unit.text);
  return { unit, words, informative, answers };
}

/** True when the text consists of addresses only. */
function isLinkOnly(text: string): boolean {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return words.length > 0 && words.every((word) => /^\P{L}*(?:https?:\/\/|www\.)/iu.test(word));
}

function placeUnits(passage: Ranked, asked: AskedTerms): Placed[] {
  const title = askedIn(passage.candidate.titleTerms, asked);
  let under = title;
  return readPassage(passage.candidate.text).map((piece) => {
    const terms = askedIn(asked.termsOf(piece.unit.text), asked);
    // A heading inside the passage applies to the units below it.
    if (piece.unit.kind === "heading") under = union(title, terms);
    return { ...piece, passage, terms, titled: union(under, terms) };
  });
}

function askedIn(terms: readonly string[], asked: AskedTerms): Set<string> {
  return new Set(asked.askedIn(terms).map(({ term }) => term));
}

/** The weighted share of the question's terms that are in `terms`, 0 to 1. */
export function weigh(terms: ReadonlySet<string>, asked: AskedTerms): number {
  let matched = 0;
  let all = 0;
  for (const [term, weight] of asked.weights) {
    all += weight;
    if (terms.has(term)) matched += weight;
  }
  return all === 0 ? 0 : matched / all;
}

export function union(...sets: readonly (ReadonlySet<string> | undefined)[]): Set<string> {
  const all = new Set<string>();
  for (const set of sets) for (const term of set ?? []) all.add(term);
  return all;
}

import type { Candidate, SearchResult } from "#knowledge/index/contract.ts";
import type { Asked, AskedTerms } from "#answering/understand/asked-terms.ts";
import { titleFit, wordingFit } from "./title-fit.ts";

const k1 = 1.2;
const b = 0.75;
/** A word in the title counts as often. */
const titleWeight = 2;
// These three were chosen on halves of three sets of questions, whose other halves they were then shown on.
/** What a title that is the question itself adds, as a share of the most that a passage can score. */
const titleShare = 0.3;
/** What two words that follow each other in the question add where they do in the passage, by the weight of the lighter. */
const pairShare = 0.5;
/** Farther apart they are no longer a pair; nearer counts more. */
const pairReach = 3;

const verbatimFrom = 0.9;
/** What a passage adds that means what was asked, as a share of the best one's worth by words. */
const meaningShare = 0.4;

export interface Ranked {
  readonly candidate: Candidate;
  /** BM25 over body and title. */
  readonly score: number;
  /** What it is ordered by: the score, and more where the title says what was asked or words stand as in the question. */
  readonly worth: number;
  /** How well its title says what was asked, 0 to 1. */
  readonly fit: number;
  /** Its heading is the question, word for word but for a slip. */
  readonly verbatim: boolean;
}

/** Orders candidates by BM25, best first. `wording`: the question's words, all of them. */
export function rank(
  asked: AskedTerms,
  result: Pick<SearchResult, "candidates" | "averageTerms">,
  wording: readonly string[] = [],
): Ranked[] {
  const limit = scoreLimit(asked);
  const pairsAsked = pairsOf(asked);
  const ranked = result.candidates.map((candidate) => {
    const title = asked.askedIn(candidate.titleTerms);
    const body = asked.askedIn(candidate.bodyTerms);
    const length = candidate.titleTerms.length + candidate.bodyTerms.length;
    const score = scoreOf(title, body, length / Math.max(1, result.averageTerms), asked);
    const pairs = Math.max(pairsIn(title, pairsAsked), pairsIn(body, pairsAsked));
    const worded = wordingFit(candidate.title, wording);
    const fit = Math.max(titleFit(candidate.title, asked), worded);
    const verbatim = worded >= verbatimFrom;
    return { candidate, score, worth: score + pairShare * pairs + titleShare * limit * fit, fit, verbatim };
  });
  const meant = withMeaning(ranked);
  // The id breaks ties, so that the same question gets the same answer.
  return meant.toSorted(
    (left, right) => right.worth - left.worth || (left.candidate.chunkId < right.candidate.chunkId ? -1 : 1),
  );
}

/** Adds what is known of the passages' meaning to their worth, in parts of the best one's. */
function withMeaning(ranked: readonly Ranked[]): readonly Ranked[] {
  if (!ranked.some(({ candidate }) => candidate.similarity !== undefined)) return ranked;
  const best = Math.max(...ranked.map(({ worth }) => worth)) || 1;
  return ranked.map((each) => ({
    ...each,
    worth: each.worth + meaningShare * best * Math.max(0, each.candidate.similarity ?? 0),
  }));
}

/** The most that a passage can score, by the weight of all that was asked. */
export function scoreLimit(asked: AskedTerms): number {
  let sum = 0;
  for (const weight of asked.weights.values()) sum += weight;
  return (k1 + 1) * sum;
}

function scoreOf(title: readonly Asked[], body: readonly Asked[], length: number, asked: AskedTerms): number {
  const counts = new Map<string, number>();
  const count = (found: readonly Asked[], times: number): void => {
    for (const { term, share } of found) counts.set(term, (counts.get(term) ?? 0) + times * share);
  };
  count(title, titleWeight);
  count(body, 1);
  const norm = k1 * (1 - b + b * length);
  let score = 0;
  for (const [term, found] of counts) score += ((asked.weights.get(term) ?? 0) * found * (k1 + 1)) / (found + norm);
  return score;
}

interface Pair {
  readonly first: string;
  readonly second: string;
  readonly weight: number;
}

/** Words that follow each other in the question, stop words apart. */
function pairsOf(asked: AskedTerms): Pair[] {
  const terms = [...asked.weights];
  return terms.slice(1).map(([second, weight], index) => {
    const [first = "", before = 0] = terms[index] ?? [];
    return { first, second, weight: Math.min(before, weight) };
  });
}

/** The weight of the pairs that stand close together here, each by the place where it does closest. */
function pairsIn(found: readonly Asked[], pairs: readonly Pair[]): number {
  if (found.length < 2) return 0;
  const places = new Map<string, number[]>();
  for (const { term, place } of found) {
    const known = places.get(term);
    if (known === undefined) places.set(term, [place]);
    else known.push(place);
  }
  let sum = 0;
  for (const { first, second, weight } of pairs) {
    const apart = closest(places.get(first) ?? [], places.get(second) ?? []);
    if (apart <= pairReach) sum += weight / apart;
  }
  return sum;
}

/** How far the nearest two of these places, both in order, are apart. */
function closest(left: readonly number[], right: readonly number[]): number {
  let apart = Number.POSITIVE_INFINITY;
  for (let l = 0, r = 0; l < left.length && r < right.length;) {
    const from = left[l] ?? 0;
    const to = right[r] ?? 0;
    apart = Math.min(apart, Math.abs(from - to));
    if (from < to) l += 1;
    else r += 1;
  }
  return apart;
}

import type { Candidate, SearchResult } from "#knowledge/index-port.ts";
import type { AskedTerms } from "./asked-terms.ts";
import { titleFit } from "./title-fit.ts";

const k1 = 1.2;
const b = 0.75;
/** A word in the title counts as often. */
const titleWeight = 2;
/** What a title that is the question itself adds, as a share of the most that a passage can score. */
const titleShare = 0.3;

/** What a passage adds that means what was asked, as a share of the best one's worth by words. */
const meaningShare = 0.4;

export interface Ranked {
  readonly candidate: Candidate;
  /** BM25 over body and title. */
  readonly score: number;
  /** What it is ordered by: the score, and more where the title says what was asked. */
  readonly worth: number;
}

/** Orders candidates by BM25, best first. */
export function rank(asked: AskedTerms, result: Pick<SearchResult, "candidates" | "averageTerms">): Ranked[] {
  const limit = scoreLimit(asked);
  const ranked = result.candidates.map((candidate) => {
    const score = scoreOf(candidate, asked, result.averageTerms);
    return { candidate, score, worth: score + titleShare * limit * titleFit(candidate.title, asked) ** 2 };
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

function scoreOf(candidate: Candidate, asked: AskedTerms, averageTerms: number): number {
  const counts = new Map<string, number>();
  const count = (terms: readonly string[], times: number): void => {
    for (const { term, share } of asked.askedIn(terms)) counts.set(term, (counts.get(term) ?? 0) + times * share);
  };
  count(candidate.titleTerms, titleWeight);
  count(candidate.bodyTerms, 1);
  const length = candidate.titleTerms.length + candidate.bodyTerms.length;
  const norm = k1 * (1 - b + (b * length) / Math.max(1, averageTerms));
  let score = 0;
  for (const [term, found] of counts) score += ((asked.weights.get(term) ?? 0) * found * (k1 + 1)) / (found + norm);
  return score;
}

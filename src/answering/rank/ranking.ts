import type { Ranked } from "./ranked.ts";
import type { SearchResult } from "#knowledge/index/contract.ts";
import type { TermMatch, AskedTerms } from "#answering/understand/asked-terms.ts";
import { isSoft } from "#language/words/terms.ts";
import { titleFit, wordingFit } from "./title-fit.ts";

const k1 = 1.2;
const b = 0.75;
/** How many occurrences in the body one occurrence in the title counts as. */
const titleWeight = 2;
// The next three were tuned on one half of three question sets and verified on the other half.
/** Bonus for a title that is the question itself, as a share of the highest possible score. */
const titleShare = 0.3;
/** Bonus for two adjacent words of the question that are close in the passage, as a share of the lighter word's weight. */
const pairShare = 0.5;
/** Maximum distance of a pair, in terms. The bonus is divided by the distance. */
const pairReach = 3;

const verbatimFrom = 0.9;
/** Weight of the vector similarity, as a share of the best lexical `worth`. */
const meaningShare = 0.4;

/** Orders candidates by `worth`, best first. `wording` holds all words of the question, stop words included. */
export function rank(
  asked: AskedTerms,
  result: Pick<SearchResult, "candidates" | "averageTerms" | "calibration">,
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
    const alike = wordingFit(candidate.title, wording);
    const worded = alike > 0 && isAbout(title, asked) ? alike : 0;
    const fit = Math.max(titleFit(candidate.title, asked), worded);
    const verbatim = worded >= verbatimFrom;
    return {
      candidate,
      score,
      worth: score + pairShare * pairs + titleShare * limit * fit,
      lead: 0,
      near: 0,
      doubt: 0,
      fit,
      verbatim,
    };
  });
  const best = Math.max(...ranked.map(({ worth }) => worth)) || 1;
  const meant = withMeaning(ranked, best, result.calibration?.orderShare ?? meaningShare);
  // The id breaks ties: the same question must get the same answer.
  const sorted = meant.toSorted(
    (left, right) => right.worth - left.worth || (left.candidate.chunkId < right.candidate.chunkId ? -1 : 1),
  );
  return result.calibration === undefined ? sorted : withLead(sorted, best, result.calibration);
}

/** Whether a title has what is asked about: "Can I wash the blanket?" has most words of "Can I wash the tent?", and not this. */
function isAbout(title: readonly TermMatch[], { weights }: AskedTerms): boolean {
  return [...weights.keys()].every((term) => isSoft(term) || title.some((match) => match.term === term));
}

/** Adds vector similarity to `worth`. Returns the list unchanged when no candidate has a similarity. */
function withMeaning(ranked: readonly Ranked[], best: number, share: number): readonly Ranked[] {
  if (!ranked.some(({ candidate }) => candidate.similarity !== undefined)) return ranked;
  return ranked.map((each) => ({
    ...each,
    worth: each.worth + share * best * Math.max(0, each.candidate.similarity ?? 0),
  }));
}

/**
 * Less of the question needs to be covered where words and meaning lead to one heading, and to no other. `sorted` is best
 * first; `best` is the highest worth by words.
 */
function withLead(
  sorted: readonly Ranked[],
  best: number,
  { leadShare, nearFrom, nearShare, doubt }: NonNullable<SearchResult["calibration"]>,
): Ranked[] {
  const [first] = sorted;
  const second = sorted.find(({ candidate }) => candidate.title !== first?.candidate.title);
  return sorted.map((each) => {
    const other = each.candidate.title === first?.candidate.title ? second : first;
    const lead = (each.worth - (other?.worth ?? 0)) / best;
    const { similarity } = each.candidate;
    // The similarities of a server are converted, and can be beyond these.
    const near = similarity === undefined ? undefined : Math.min(1, Math.max(0, similarity)) - nearFrom;
    const isNear = near !== undefined && near >= 0;
    return { ...each, lead: leadShare * (isNear ? lead : Math.min(0, lead)), near: nearShare * (near ?? 0), doubt };
  });
}

/** The BM25 score that no passage can exceed for this question. */
export function scoreLimit(asked: AskedTerms): number {
  let sum = 0;
  for (const weight of asked.weights.values()) sum += weight;
  return (k1 + 1) * sum;
}

function scoreOf(title: readonly TermMatch[], body: readonly TermMatch[], length: number, asked: AskedTerms): number {
  const counts = new Map<string, number>();
  const count = (matches: readonly TermMatch[], times: number): void => {
    for (const { term, share } of matches) counts.set(term, (counts.get(term) ?? 0) + times * share);
  };
  count(title, titleWeight);
  count(body, 1);
  const norm = k1 * (1 - b + b * length);
  let score = 0;
  for (const [term, times] of counts) score += ((asked.weights.get(term) ?? 0) * times * (k1 + 1)) / (times + norm);
  return score;
}

interface Pair {
  readonly first: string;
  readonly second: string;
  readonly weight: number;
}

/** Adjacent terms of the question. Stop words are not counted. */
function pairsOf(asked: AskedTerms): Pair[] {
  const terms = [...asked.weights];
  return terms.slice(1).map(([second, weight], index) => {
    const [first = "", before = 0] = terms[index] ?? [];
    return { first, second, weight: Math.min(before, weight) };
  });
}

/** Sums the pairs that are within reach, each divided by its smallest distance. */
function pairsIn(matches: readonly TermMatch[], pairs: readonly Pair[]): number {
  if (matches.length < 2) return 0;
  const positions = new Map<string, number[]>();
  for (const { term, position } of matches) {
    const ofTerm = positions.get(term);
    if (ofTerm === undefined) positions.set(term, [position]);
    else ofTerm.push(position);
  }
  let sum = 0;
  for (const { first, second, weight } of pairs) {
    const distance = smallestDistance(positions.get(first) ?? [], positions.get(second) ?? []);
    if (distance <= pairReach) sum += weight / distance;
  }
  return sum;
}

/** The smallest distance between two ascending lists of positions. */
function smallestDistance(left: readonly number[], right: readonly number[]): number {
  let distance = Number.POSITIVE_INFINITY;
  for (let l = 0, r = 0; l < left.length && r < right.length;) {
    const from = left[l] ?? 0;
    const to = right[r] ?? 0;
    distance = Math.min(distance, Math.abs(from - to));
    if (from < to) l += 1;
    else r += 1;
  }
  return distance;
}

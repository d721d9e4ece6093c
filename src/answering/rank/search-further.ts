import type { Question } from "#answering/contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import type { Retrieval } from "#answering/retrieve/retrieve.ts";
import { retrieve } from "#answering/retrieve/retrieve.ts";
import type { Judged } from "./judge.ts";
import type { Ranked } from "./ranked.ts";

/** A passage, with the search that found it. */
export interface Found {
  readonly passage: Ranked;
  readonly by: Retrieval;
}

/** Passages of which a reranker chooses those that a language model reads. */
export const choiceMax = 40;
/** Passages that a language model reads at most. */
export const readMax = 10;
/** Lessens what the first ranks count for more than the next ones. */
const rankOffset = 4;

/** The passages of the extracted answer first, then the best ranked. */
export function foundByMessage({ found, extract }: Judged): readonly Found[] {
  return [...new Set([...(extract?.used ?? []), ...found.ranked])].map((passage) => ({ passage, by: found }));
}

/**
 * Searches for each query, and merges the results with those of the message itself, best first: a passage that several
 * searches find comes before one that a single search ranks as high.
 */
export async function searchFurther(
  index: KnowledgeIndex,
  question: Question,
  queries: readonly string[],
  judged: Judged,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const own = foundByMessage(judged);
  const others: Found[][] = [];
  for (const text of queries) {
    const by = await retrieve(index, { ...question, text, history: [] }, signal);
    others.push(by.ranked.map((passage) => ({ passage, by })));
  }
  return merged([own, ...others]);
}

/** Merges rankings by the sum of the reciprocal ranks. */
function merged(rankings: readonly (readonly Found[])[]): readonly Found[] {
  const worth = new Map<string, { readonly found: Found; sum: number }>();
  for (const ranking of rankings) {
    for (const [rank, found] of ranking.slice(0, readMax).entries()) {
      const { chunkId } = found.passage.candidate;
      const known = worth.get(chunkId) ?? { found, sum: 0 };
      known.sum += 1 / (rankOffset + rank);
      worth.set(chunkId, known);
    }
  }
  return [...worth.values()].toSorted((left, right) => right.sum - left.sum).map(({ found }) => found);
}

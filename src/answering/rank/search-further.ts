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

/** Lessens what the first ranks count for more than the next ones. */
const rankOffset = 4;

/** The passages of the extracted answer first, then the best ranked. */
export function foundByMessage({ found, extract }: Judged): readonly Found[] {
  const passages = [...(extract?.used ?? []), ...found.ranked];
  return withoutRepeats(passages.map((passage) => ({ passage, by: found })));
}

/** Passages of several searches are other objects. */
export function withoutRepeats(all: readonly Found[]): readonly Found[] {
  return [...new Map(all.map((each) => [each.passage.candidate.chunkId, each])).values()];
}

/** Searches for each query. The first ranking is that of the message itself. */
export async function searchFurther(
  index: KnowledgeIndex,
  question: Question,
  queries: readonly string[],
  judged: Judged,
  signal: AbortSignal,
): Promise<readonly (readonly Found[])[]> {
  const rankings = [foundByMessage(judged)];
  for (const text of queries) {
    const by = await retrieve(index, { ...question, text, history: [] }, signal);
    rankings.push(by.ranked.map((passage) => ({ passage, by })));
  }
  return rankings;
}

/**
 * The best `count` passages of several rankings, by the sum of the reciprocal ranks: one that several searches find comes
 * before one that a single search ranks as high.
 */
export function merged(rankings: readonly (readonly Found[])[], count: number): readonly Found[] {
  const worth = new Map<string, { readonly found: Found; sum: number }>();
  for (const ranking of rankings) {
    for (const [rank, found] of ranking.slice(0, count).entries()) {
      const { chunkId } = found.passage.candidate;
      const known = worth.get(chunkId) ?? { found, sum: 0 };
      known.sum += 1 / (rankOffset + rank);
      worth.set(chunkId, known);
    }
  }
  return [...worth.values()]
    .toSorted((left, right) => right.sum - left.sum)
    .slice(0, count)
    .map(({ found }) => found);
}

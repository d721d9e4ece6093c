import type { Hit } from "./passage-documents.ts";

const k1 = 1.2;
const b = 0.75;
const titleWeight = 2;

/** Sorts by BM25, so that the limit cuts off the worse ones. The caller ranks again. */
export function bestFirst(
  hits: readonly Hit[],
  terms: readonly string[],
  {
    chunkCount,
    averageTerms,
    frequency,
  }: { readonly chunkCount: number; readonly averageTerms: number; readonly frequency: ReadonlyMap<string, number> },
): Hit[] {
  const weights = new Map(
    terms.map((term) => {
      const found = frequency.get(term) ?? 0;
      return [term, Math.log(1 + Math.max(0, chunkCount - found + 0.5) / (found + 0.5))];
    }),
  );
  const scored = hits.map((hit) => {
    const counts = new Map<string, number>();
    for (const term of hit.titleTerms) if (weights.has(term)) counts.set(term, (counts.get(term) ?? 0) + titleWeight);
    for (const term of hit.bodyTerms) if (weights.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    const norm = k1 * (1 - b + (b * (hit.titleTerms.length + hit.bodyTerms.length)) / Math.max(1, averageTerms));
    let score = 0;
    for (const [term, count] of counts) score += ((weights.get(term) ?? 0) * count * (k1 + 1)) / (count + norm);
    return { hit, score };
  });
  return scored
    .toSorted((left, right) => right.score - left.score || (left.hit.id < right.hit.id ? -1 : 1))
    .map(({ hit }) => hit);
}

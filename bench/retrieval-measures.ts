/** Measures of answers to questions whose right documents are known. */

/** The result of one question. */
export interface QuestionResult {
  /** The evidence score of the answer; 0 without an answer. */
  readonly evidence: number;
  /** The ranks of the right documents among the found ones, from 0. A document ranks by its best passage. */
  readonly places: readonly number[];
  /** The number of right documents. */
  readonly right: number;
  /** Whether the extractive answer contains a gold answer; null where the set has none. */
  readonly rightSentence: boolean | null;
  /** Whether the answer uses passages of right documents. */
  readonly rightSource: boolean;
  readonly ms: number;
}

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
export const share = (values: readonly boolean[]): number => mean(values.map(Number));

export const hitAt1 = (asked: readonly QuestionResult[]): number => share(asked.map(({ places }) => places[0] === 0));

export const recallAt5 = (asked: readonly QuestionResult[]): number =>
  mean(asked.map(({ places, right }) => places.filter((place) => place < 5).length / right));

export const mrrAt10 = (asked: readonly QuestionResult[]): number =>
  mean(asked.map(({ places: [first = 10] }) => (first < 10 ? 1 / (first + 1) : 0)));

export function ndcgAt10(asked: readonly QuestionResult[]): number {
  const gain = (place: number): number => 1 / Math.log2(place + 2);
  return mean(
    asked.map(({ places, right }) => {
      const ideal = Array.from({ length: Math.min(right, 10) }, (_, place) => gain(place));
      const sum = (gains: readonly number[]): number => gains.reduce((all, each) => all + each, 0);
      return sum(places.filter((place) => place < 10).map((place) => gain(place))) / sum(ideal);
    }),
  );
}

/** The probability that an answerable question has more evidence than an unanswerable one. */
export function auroc(positive: readonly number[], negative: readonly number[]): number {
  const all = [
    ...positive.map((value) => ({ value, positive: true })),
    ...negative.map((value) => ({ value, positive: false })),
  ];
  all.sort((left, right) => left.value - right.value);
  let rankSum = 0;
  for (let start = 0; start < all.length;) {
    let end = start;
    while (end < all.length && all[end]?.value === all[start]?.value) end += 1;
    const middle = (start + end + 1) / 2;
    for (const each of all.slice(start, end)) if (each.positive) rankSum += middle;
    start = end;
  }
  return (rankSum - (positive.length * (positive.length + 1)) / 2) / (positive.length * negative.length);
}

/** The share of answerable questions above the floor that lets one unanswerable question in twenty pass. */
export function answeredAt5Percent(positive: readonly number[], negative: readonly number[]): number {
  if (negative.length === 0) return Number.NaN;
  const floor = negative.toSorted((left, right) => right - left)[Math.floor(negative.length * 0.05)] ?? 0;
  return share(positive.map((value) => value > floor));
}

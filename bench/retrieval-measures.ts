/** What is counted of answers to questions whose right documents are known. */

/** One question, asked. */
export interface Asked {
  /** How sure the program is of its answer; 0 where it has none. */
  readonly evidence: number;
  /** Right documents' places among the found ones, from 0; documents are placed by their best passage. */
  readonly places: readonly number[];
  /** How many right documents there are. */
  readonly right: number;
  /** The extractive answer holds what is right; null where the set does not say. */
  readonly rightSentence: boolean | null;
  /** The passages that it is taken from are of right documents. */
  readonly rightSource: boolean;
  readonly ms: number;
}

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
export const share = (values: readonly boolean[]): number => mean(values.map(Number));

export const hitAt1 = (asked: readonly Asked[]): number => share(asked.map(({ places }) => places[0] === 0));

export const recallAt5 = (asked: readonly Asked[]): number =>
  mean(asked.map(({ places, right }) => places.filter((place) => place < 5).length / right));

export const mrrAt10 = (asked: readonly Asked[]): number =>
  mean(asked.map(({ places: [first = 10] }) => (first < 10 ? 1 / (first + 1) : 0)));

export function ndcgAt10(asked: readonly Asked[]): number {
  const gain = (place: number): number => 1 / Math.log2(place + 2);
  return mean(
    asked.map(({ places, right }) => {
      const ideal = Array.from({ length: Math.min(right, 10) }, (_, place) => gain(place));
      const sum = (gains: readonly number[]): number => gains.reduce((all, each) => all + each, 0);
      return sum(places.filter((place) => place < 10).map((place) => gain(place))) / sum(ideal);
    }),
  );
}

/** The probability that a question with an answer has the higher evidence than one without. */
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

/** The share of answerable questions above the floor that lets through one unanswerable question in twenty. */
export function answeredAt5Percent(positive: readonly number[], negative: readonly number[]): number {
  if (negative.length === 0) return Number.NaN;
  const floor = negative.toSorted((left, right) => right - left)[Math.floor(negative.length * 0.05)] ?? 0;
  return share(positive.map((value) => value > floor));
}

import { partsOf } from "./parts.ts";

// How well an encoder tells passages on one subject from passages on others. A sentence of a passage is the question,
// and is left out of its passage, so that the documents themselves say which belong together.

export interface SampledPassage {
  readonly documentId: string;
  readonly title: string;
  readonly text: string;
}

/** A question, and the parts of a passage without it. */
export interface Pair {
  readonly question: string;
  readonly parts: readonly string[];
}

export interface Pairs {
  /** A sentence and the rest of its passage. */
  readonly related: readonly Pair[];
  /** A sentence and a passage of another document; where there is only one document, below another heading. */
  readonly unrelated: readonly Pair[];
}

export interface Similarities {
  readonly related: readonly number[];
  readonly unrelated: readonly number[];
}

const strangersMax = 2;

export function pairsOf(sample: readonly SampledPassage[]): Pairs {
  const passages = sample.map((each) => ({ ...each, parts: partsOf(each.title, each.text) }));
  const isOneDocument = new Set(sample.map(({ documentId }) => documentId)).size === 1;
  const related: Pair[] = [];
  const unrelated: Pair[] = [];
  for (const [at, { documentId, title, parts }] of passages.entries()) {
    const sentences = parts.filter((part) => part !== title);
    if (parts.length === 1) continue;
    // Begins half a sample away: neighbours often have one subject.
    const start = at + Math.floor(passages.length / 2);
    const strangers = [...passages, ...passages]
      .slice(start, start + passages.length)
      .filter((each) => (isOneDocument ? each.title !== title : each.documentId !== documentId))
      .slice(0, strangersMax);
    for (const question of new Set([...sentences.slice(0, 1), ...sentences.slice(-1)])) {
      related.push({ question, parts: parts.filter((part) => part !== question) });
      unrelated.push(...strangers.map((each) => ({ question, parts: each.parts })));
    }
  }
  return { related, unrelated };
}

/** The share of related pairs that are nearer than an unrelated one: the area under the ROC curve. */
export const separationOf = (similarities: Similarities): number => mean(placesOf(similarities).related);

/**
 * Whether the second encoding separates the same pairs better than the first, by more than chance (DeLong's test at two
 * standard errors) and by more than can be noticed.
 */
export function isBetter(first: Similarities, second: Similarities): boolean {
  // Pairs are compared one by one. There are fewer after the server refused a text, and nothing is known then.
  if (first.related.length !== second.related.length || first.unrelated.length !== second.unrelated.length)
    return false;
  const [before, after] = [placesOf(first), placesOf(second)];
  const differences = (of: keyof Similarities): number[] =>
    after[of].map((place, at) => place - (before[of][at] ?? place));
  const [related, unrelated] = [differences("related"), differences("unrelated")];
  const error = Math.sqrt(
    deviation(related) ** 2 / related.length + deviation(unrelated) ** 2 / Math.max(1, unrelated.length),
  );
  return mean(related) > Math.max(noticedFrom, 2 * error);
}

const noticedFrom = 0.01;

/** The mean of the similarities of both kinds, each kind with the same weight, and their standard deviation. */
export function spreadOf({ related, unrelated }: Similarities): { readonly mean: number; readonly deviation: number } {
  const [near, far] = [mean(related), mean(unrelated)];
  const within = (deviation(related) ** 2 + deviation(unrelated) ** 2) / 2;
  return { mean: (near + far) / 2, deviation: Math.sqrt(within + ((near - far) / 2) ** 2) };
}

/** For each pair the share of the pairs of the other kind that it is on the right side of. Ties count half. */
function placesOf({ related, unrelated }: Similarities): Similarities {
  const share = (others: readonly number[], compare: (other: number) => number): number =>
    mean(others.map((other) => (Math.sign(compare(other)) + 1) / 2));
  return {
    related: related.map((near) => share(unrelated, (far) => near - far)),
    unrelated: unrelated.map((far) => share(related, (near) => near - far)),
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length);

function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((each) => (each - middle) ** 2)));
}

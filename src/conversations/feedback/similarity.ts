import { languageOf } from "#language/detection.ts";
import { synonymOf, synonymsOf } from "#language/words/synonyms.ts";
import { isSoft, termsOf } from "#language/words/terms.ts";

/** Questions are the same if their words overlap by this share. Measured by `bench/question-groups.ts`. */
const sameFrom = 0.5;
/** A longer message is an account, whose later words say little about the question. */
const termsMax = 40;
/** Words such as "help" and "problem" say little about what is asked. */
const softWeight = 0.25;

const { read } = synonymsOf();

/** The stems of the question's content words, sorted, each once. Words for the same thing ("hire", "rent") are one. */
export function questionTerms(text: string): readonly string[] {
  return joinedTerms(read(termsOf(text, languageOf(text)).slice(0, termsMax)));
}

/** Joins synonyms, also among terms that an earlier version has stored. */
export function joinedTerms(terms: readonly string[]): readonly string[] {
  return [...new Set(terms.map(synonymOf))].toSorted();
}

/** Finds the group whose first question is most similar. */
export interface QuestionIndex {
  add(id: string, terms: readonly string[]): void;
  /** Undefined: no group is similar enough. Of equally similar groups the one that was added first. */
  nearest(terms: readonly string[]): string | undefined;
}

interface Entry {
  readonly id: string;
  readonly terms: readonly string[];
}

/** Words of few groups count more than words of many. `from`: the least share of common words. */
export function createQuestionIndex(from = sameFrom): QuestionIndex {
  const byTerm = new Map<string, Entry[]>();
  let size = 0;
  const weightOf = (term: string): number =>
    (isSoft(term) ? softWeight : 1) * Math.log(1 + (size + 1) / ((byTerm.get(term)?.length ?? 0) + 0.5));
  const sumOf = (terms: readonly string[]): number => terms.reduce((sum, term) => sum + weightOf(term), 0);
  return {
    add(id, terms) {
      size += 1;
      const entry = { id, terms };
      for (const term of terms) {
        const entries = byTerm.get(term);
        if (entries === undefined) byTerm.set(term, [entry]);
        else entries.push(entry);
      }
    },
    nearest(terms) {
      const common = new Map<Entry, number>();
      for (const term of terms) {
        const weight = weightOf(term);
        for (const entry of byTerm.get(term) ?? []) common.set(entry, (common.get(entry) ?? 0) + weight);
      }
      const weight = sumOf(terms);
      let best: Entry | undefined;
      let bestShare = 0;
      for (const [entry, shared] of common) {
        // The upper bound of the share, which spares most entries the sum of their weights.
        if ((2 * shared) / (weight + shared) < Math.max(from, bestShare)) continue;
        const share = (2 * shared) / (weight + sumOf(entry.terms));
        if (share >= from && (share > bestShare || (share === bestShare && entry.id < (best?.id ?? "")))) {
          best = entry;
          bestShare = share;
        }
      }
      return best?.id;
    },
  };
}

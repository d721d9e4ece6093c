import type { SearchResult } from "#knowledge/index/contract.ts";
import type { WordLanguage } from "#language/detection.ts";
import type { Synonyms } from "#language/words/synonyms.ts";
import { synonymsOf } from "#language/words/synonyms.ts";
import { isSoft, termsOfPassage } from "#language/words/terms.ts";

/** The weighted terms of a question, for matching against passages. */
export interface AskedTerms {
  /** Weight of each term of the question. */
  readonly weights: ReadonlyMap<string, number>;
  /** Weight to add to the confidence's divisor for corrected terms, since a correction is a guess. */
  readonly guessed: number;
  /** The term of the question that a passage's term matches. Undefined when it matches none. */
  askedBy(term: string): string | undefined;
  /** Joins the terms of phrases that have synonyms. `terms` must be in text order. */
  read(terms: readonly string[]): readonly string[];
  /** The terms of a text, read in the language of the question. */
  termsOf(text: string): readonly string[];
  /** The matches of the question in a text's terms, in text order. */
  askedIn(terms: readonly string[]): TermMatch[];
}

/** A match of a question term in a passage. */
export interface TermMatch {
  readonly term: string;
  /** 1 for the term itself, less for a synonym or a correction. */
  readonly share: number;
  /** Index in the passage's terms. */
  readonly position: number;
}

/** Share of a corrected word. At 0.8 more unanswerable questions get an answer. */
const repairedShare = 0.5;
/** How much of a corrected word's lower weight is added to the confidence's divisor. */
const guessCost = 0.5;
/** Number of letters from which a single correction is nearly certain. */
const sureFrom = 6;
const sureShare = 0.8;
const sureCost = 0.25;
/** Maximum weight of a soft term, as a share of an unknown one. Large knowledge bases reach lower weights by frequency. */
const softShare = 0.35;
/** Maximum weight of a soft term relative to the heaviest other term: in "Which channels are supported?" that is "channels". */
const softBeside = 0.6;

/** The terms to search for: those of the question and their synonyms. */
export function withSynonyms(terms: readonly string[], synonyms: Synonyms = synonymsOf()): string[] {
  const all = terms.flatMap((term) => [term, ...synonyms.groupOf(term)]);
  return [...new Set(all.flatMap((term) => synonyms.stemsOf(term)))];
}

/** Inverse document frequency. Never negative. */
function idf(frequency: number, chunkCount: number): number {
  return Math.log(1 + (chunkCount - frequency + 0.5) / (frequency + 0.5));
}

/** Weight of a term that no passage has: a little more than that of a term in a single passage. */
export function unknownWeight(chunkCount: number): number {
  // A small knowledge base lacks many words. They must not outweigh the words that it has.
  return Math.min(idf(0, chunkCount), 1.2 * idf(1, Math.max(1, chunkCount)));
}

type Statistics = Pick<SearchResult, "frequency" | "chunkCount" | "repaired">;

/** Weighs terms by how rare they are in this workspace. `share` lowers the weight of some terms, 0 to 1. */
export function weighTerms(
  terms: readonly string[],
  { frequency, chunkCount, repaired = new Map() }: Statistics,
  share: (term: string) => number = () => 1,
  synonyms: Synonyms = synonymsOf(),
  language: WordLanguage = "en",
): AskedTerms {
  const unknown = unknownWeight(chunkCount);
  const weights = new Map<string, number>();
  const asked = new Map<string, Omit<TermMatch, "position">>();
  const soft = new Set<string>();
  let guessed = 0;
  // A phrase is at most as frequent as its rarest word.
  const frequencyOf = (term: string): number =>
    Math.min(...synonyms.stemsOf(term).map((each) => frequency.get(each) ?? 0));
  for (const term of terms) {
    // Synonyms within one question count once.
    if (asked.has(term)) continue;
    const group = synonyms.groupOf(term);
    const meant = (repaired.get(term) ?? []).filter((each) => !terms.includes(each));
    const alike = [...new Set(meant.flatMap((each) => [each, ...synonyms.groupOf(each)]))];
    const isSure = meant.length === 1 && term.length >= sureFrom;
    const highest = Math.max(...[term, ...group, ...alike].map((each) => frequencyOf(each)));
    const weight = highest === 0 ? unknown : idf(highest, chunkCount);
    // A corrected word ("diffrence") is soft when all of its corrections are.
    const saysLittle = isSoft(term) || (meant.length > 0 && meant.every((each) => isSoft(each)));
    if (saysLittle) soft.add(term);
    weights.set(term, share(term) * (saysLittle ? Math.min(weight, softShare * unknown) : weight));
    if (alike.length > 0 && !saysLittle) guessed += (isSure ? sureCost : guessCost) * Math.max(0, unknown - weight);
    asked.set(term, { term, share: 1 });
    for (const each of group) if (each !== term) asked.set(each, { term, share: synonyms.shareOf(term) });
    for (const each of alike)
      if (!asked.has(each)) asked.set(each, { term, share: isSure ? sureShare : repairedShare });
  }
  const heaviest = Math.max(0, ...[...weights].filter(([term]) => !soft.has(term)).map(([, weight]) => weight));
  if (heaviest > 0) for (const term of soft) weights.set(term, Math.min(weights.get(term) ?? 0, softBeside * heaviest));
  return {
    weights,
    termsOf: (text) => termsOfPassage(text, language),
    guessed,
    askedBy: (term) => asked.get(term)?.term,
    read: (passage) => synonyms.read(passage),
    askedIn(passage) {
      const matches: TermMatch[] = [];
      for (const [position, each] of synonyms.read(passage).entries()) {
        const match = asked.get(each);
        if (match !== undefined) matches.push({ ...match, position });
      }
      return matches;
    },
  };
}

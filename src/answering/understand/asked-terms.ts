import type { SearchResult } from "#knowledge/index/contract.ts";
import type { WordLanguage } from "#language/detection.ts";
import type { Synonyms } from "./synonyms.ts";
import { synonymsOf } from "./synonyms.ts";
import { isSoft, termsOfPassage } from "#language/terms.ts";

/** What a question asks for, as it is looked for in passages. */
export interface AskedTerms {
  /** What each term of the question weighs. */
  readonly weights: ReadonlyMap<string, number>;
  /** What the terms weigh less that were taken for misspelt ones, than words that nobody knows: a guess is no knowledge. */
  readonly guessed: number;
  /** The term of the question that a passage's term stands for; undefined: it was not asked for. */
  askedBy(term: string): string | undefined;
  /** The terms of a text, which stand in order, with one in the place of those that stand for one thing together. */
  read(terms: readonly string[]): readonly string[];
  /** The terms of a text, which is taken to be in the language of the question. */
  termsOf(text: string): readonly string[];
  /** What was asked for of the terms of a text. */
  askedIn(terms: readonly string[]): Asked[];
}

/** A place in a passage that has what was asked for. */
export interface Asked {
  readonly term: string;
  /** How much it counts: less than 1 where it is not the word itself but one of the same meaning, or written almost alike. */
  readonly share: number;
  /** Where it stands, in terms from the beginning. */
  readonly place: number;
}

/** How much a word counts that the one of the question was probably meant for: at 0.8 more is answered that has no answer. */
const repairedShare = 0.5;
/** So much of what such a word weighs less than an unknown one counts against the answer. */
const guessCost = 0.5;
/** A word of so many letters that one other alone is near to is no guess any more. */
const sureFrom = 6;
const sureShare = 0.8;
const sureCost = 0.25;
/** The most that a soft term can weigh, as a share of an unknown one. A large knowledge base finds that out by itself. */
const softShare = 0.35;
/** In "Which channels are supported?" the channels are asked for, in however many passages they are. */
const softBeside = 0.6;

/** The terms to search for: those of the question and those that mean the same. */
export function withSynonyms(terms: readonly string[], synonyms: Synonyms = synonymsOf()): string[] {
  const all = terms.flatMap((term) => [term, ...synonyms.groupOf(term)]);
  return [...new Set(all.flatMap((term) => synonyms.stemsOf(term)))];
}

/** How much it says that a passage has this term: much when few of the passages have it. Never negative. */
function idf(frequency: number, chunkCount: number): number {
  return Math.log(1 + (chunkCount - frequency + 0.5) / (frequency + 0.5));
}

/** Weight of a term that no passage has: a little more than that of one which a single passage has. */
export function unknownWeight(chunkCount: number): number {
  // In a handful of passages a missing word is no wonder, and must not outweigh those that are there.
  return Math.min(idf(0, chunkCount), 1.2 * idf(1, Math.max(1, chunkCount)));
}

type Statistics = Pick<SearchResult, "frequency" | "chunkCount" | "repaired">;

/** Weighs terms by how rare they are in this workspace; `share` makes some count less. */
export function weighTerms(
  terms: readonly string[],
  { frequency, chunkCount, repaired = new Map() }: Statistics,
  share: (term: string) => number = () => 1,
  synonyms: Synonyms = synonymsOf(),
  language: WordLanguage = "en",
): AskedTerms {
  const unknown = unknownWeight(chunkCount);
  const weights = new Map<string, number>();
  const asked = new Map<string, Omit<Asked, "place">>();
  const soft = new Set<string>();
  let guessed = 0;
  // Words that stand for one thing together are no more frequent than the rarest of them.
  const frequencyOf = (term: string): number =>
    Math.min(...synonyms.stemsOf(term).map((each) => frequency.get(each) ?? 0));
  for (const term of terms) {
    // Two words of one meaning in a question ask for one thing.
    if (asked.has(term)) continue;
    const group = synonyms.groupOf(term);
    const meant = (repaired.get(term) ?? []).filter((each) => !terms.includes(each));
    const alike = [...new Set(meant.flatMap((each) => [each, ...synonyms.groupOf(each)]))];
    const isSure = meant.length === 1 && term.length >= sureFrom;
    const found = Math.max(...[term, ...group, ...alike].map((each) => frequencyOf(each)));
    const weight = found === 0 ? unknown : idf(found, chunkCount);
    // "diffrence" says as little as what it was meant for.
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
      const found: Asked[] = [];
      for (const [place, each] of synonyms.read(passage).entries()) {
        const wanted = asked.get(each);
        if (wanted !== undefined) found.push({ ...wanted, place });
      }
      return found;
    },
  };
}

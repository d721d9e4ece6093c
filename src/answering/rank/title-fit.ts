import type { AskedTerms } from "#answering/understand/asked-terms.ts";
import { isSoft } from "#language/words/terms.ts";
import { memoize } from "#runtime/memoize.ts";
import { weigh } from "./merged-passages.ts";
import { wordsOf } from "#language/words/tokens.ts";

/** Weight in a title of a soft term, which most questions contain whatever their subject. */
const softCount = 0.35;
/** Weight of the section heading alone: "Troubleshooting › Install the driver" may be about any device. */
const sectionShare = 0.8;
/** Weight of the document title alone, which applies to all of its sections alike. */
const documentShare = 0.6;

const charactersKept = 100_000;
/** Splits "Document › Section › …", outermost first. */
export const partsOfTitle = memoize(charactersKept, (title) => title.split(" › "));
/** The words of the innermost heading. */
export const wordsOfHeading = memoize(charactersKept, (title) => wordsOf(partsOfTitle(title).at(-1) ?? ""));
const differentWordsOfHeading = memoize(charactersKept, (title) => new Set(wordsOfHeading(title)));

/**
 * How well a passage's title matches the question, 0 to 1: the harmonic mean of recall and precision over terms. For
 * "How do I delete my account?", "Delete an account" fits best, "Delete an account of a minor" a little less, "Accounts"
 * hardly. A title has the form "Document › Section". The best of document, innermost section and both together counts.
 */
export function titleFit(title: string, asked: AskedTerms): number {
  const parts = partsOfTitle(title);
  const document = asked.termsOf(parts[0] ?? "");
  if (parts.length === 1) return fitOf(document, asked);
  const section = asked.termsOf(parts.at(-1) ?? "");
  return Math.max(
    documentShare * fitOf(document, asked),
    fitOf([...document, ...section], asked),
    sectionShare * fitOf(section, asked),
  );
}

function fitOf(terms: readonly string[], asked: AskedTerms): number {
  const matched = new Set<string>();
  let named = 0;
  let meant = 0;
  for (const term of new Set(asked.read(terms))) {
    const count = isSoft(term) ? softCount : 1;
    const wanted = asked.askedBy(term);
    named += count;
    if (wanted === undefined) continue;
    meant += count;
    matched.add(wanted);
  }
  if (matched.size === 0) return 0;
  const share = weigh(matched, asked);
  const precision = meant / named;
  return (2 * share * precision) / (share + precision);
}

/** Shorter questions match too many headings. Below `wordingShare` the heading is a different question. */
const wordingMin = 3;
const wordingShare = 0.8;
/**
 * How much the innermost heading is the question word for word, 0 to 1; 0 below `wordingShare`. Term weights cannot
 * recognise a question whose words are all common, such as "How do I stop the server?"
 */
export function wordingFit(title: string, wording: readonly string[]): number {
  if (wording.length < wordingMin) return 0;
  const heading = differentWordsOfHeading(title);
  const asked = new Set(wording);
  if (Math.min(heading.size, asked.size) < wordingMin || heading.size > 2 * asked.size) return 0;
  let same = 0;
  for (const word of asked) if (heading.has(word)) same += 1;
  const share = (2 * same) / (heading.size + asked.size);
  return share >= wordingShare ? share : 0;
}

import { fold } from "#language/words/runs.ts";
import type { WordLanguage } from "#language/detection.ts";
import { plain, stopWordsOf } from "#language/detection.ts";
import { runsOf } from "#language/words/runs.ts";
import { isSpelt, typoDistance } from "#language/words/spelling.ts";

/** Preferred corrections, most likely first. */
const likeliest = ["how", "what", "when", "where", "who", "why", "which", "the", "and", "you"];
/** Shorter words turn into each other when letters are swapped: "on" and "no". */
const swappedMin = 3;
/** Minimum length of a word that may lack a letter: "wich" and "shoud" are typos, "hat" is not "that". */
const missingFrom = 5;
/** Abbreviations and frequent typos. Applied only when no document has the word. */
const abbreviations = new Map(
  Object.entries({ wat: "what", wht: "what", wut: "what", wen: "when", hw: "how", whr: "where", r: "are" }),
);

const lettersIn = (word: string): string => [...word].toSorted().join("");
const byLetters = new Map<WordLanguage, ReadonlyMap<string, readonly string[]>>();

function stopWordsByLetters(language: WordLanguage): ReadonlyMap<string, readonly string[]> {
  const cached = byLetters.get(language);
  if (cached !== undefined) return cached;
  const words = [...stopWordsOf(language)].filter((word) => isSpelt(word, swappedMin));
  const made = Map.groupBy(words, lettersIn);
  byLetters.set(language, made);
  return made;
}

/** Corrects two swapped letters or a repeated letter to a stop word. Call it only for words that no document has. */
export function stopWordSwapped(word: string, language: WordLanguage = "en"): string | undefined {
  const stops = stopWordsOf(language);
  if (language === "en" && abbreviations.has(word)) return abbreviations.get(word);
  const isSwapped = (other: string): boolean => typoDistance(word, other, 1) === 1;
  const swapped = (stopWordsByLetters(language).get(lettersIn(word)) ?? []).filter(isSwapped);
  const meant = likeliest.find((each) => swapped.includes(each)) ?? swapped[0];
  if (meant !== undefined) return meant;
  // "pleeease", "whatt"
  const shortened = [word.replaceAll(/(.)\1{2,}/gu, "$1$1"), word.replaceAll(/(.)\1+/gu, "$1")];
  return shortened.find((each) => each !== word && each.length >= swappedMin && stops.has(each));
}

/** Corrects a missing letter to a stop word. */
export function stopWordLacking(word: string, language: WordLanguage = "en"): string | undefined {
  if (word.length < missingFrom - 1 || !isSpelt(word)) return undefined;
  const initial = word.charAt(0);
  for (const stop of stopWordsOf(language)) {
    if (stop.length === word.length + 1 && stop.startsWith(initial) && typoDistance(word, stop, 1) === 1) return stop;
  }
  return undefined;
}

/**
 * Corrects misspelt stop words in a text. `isKnown`: whether a document has the word. `hasCorrection`: whether a document
 * has a similar word, in which case a missing letter is not corrected to a stop word.
 */
export function correctStopWords(
  text: string,
  words: readonly string[],
  language: WordLanguage,
  isKnown: (word: string) => boolean,
  hasCorrection: (word: string) => boolean,
): string {
  const meant = new Map<string, string>();
  for (const word of words) {
    if (isKnown(word)) continue;
    const right =
      stopWordSwapped(word, language) ?? (hasCorrection(word) ? undefined : stopWordLacking(word, language));
    if (right !== undefined) meant.set(word, right);
  }
  if (meant.size === 0) return text;
  const isUppercase = !/\p{Ll}/u.test(text);
  let right = text;
  for (const run of new Set(runsOf(text))) {
    // An acronym such as AWS must not become "was".
    if (!isUppercase && run.length > 1 && run === run.toUpperCase()) continue;
    const word = meant.get(language === "en" ? fold(run) : plain(language, run));
    if (word !== undefined)
      right = right.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])${run}(?![\\p{L}\\p{N}])`, "gu"), word);
  }
  return right;
}

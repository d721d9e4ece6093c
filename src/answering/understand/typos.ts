import { fold } from "#language/english.ts";
import type { WordLanguage } from "#language/detection.ts";
import { plain, stopWordsOf } from "#language/detection.ts";
import { runsOf } from "#language/tokens.ts";
import { isSpelt, slipsBetween } from "#language/spelling.ts";

/** Of those that a slip may have been meant for, these are the likeliest. */
const likeliest = ["how", "what", "when", "where", "who", "why", "which", "the", "and", "you"];
/** Shorter words are swapped into each other: "on" and "no". */
const swappedMin = 3;
/** Of such words a letter can be missing and nothing else be meant: "wich", "shoud"; "hat" is not "that". */
const missingFrom = 5;
/** How these are typed in a hurry, where no document has the word. */
const hasty = new Map(
  Object.entries({ wat: "what", wht: "what", wut: "what", wen: "when", hw: "how", whr: "where", r: "are" }),
);

const lettersIn = (word: string): string => [...word].toSorted().join("");
const byLetters = new Map<WordLanguage, ReadonlyMap<string, readonly string[]>>();

function stopWordsByLetters(language: WordLanguage): ReadonlyMap<string, readonly string[]> {
  const known = byLetters.get(language);
  if (known !== undefined) return known;
  const words = [...stopWordsOf(language)].filter((word) => isSpelt(word, swappedMin));
  const made = Map.groupBy(words, lettersIn);
  byLetters.set(language, made);
  return made;
}

/** The stop word that a word, which no document has, was meant for by its look: two letters swapped, or one held down. */
export function stopWordSwapped(word: string, language: WordLanguage = "en"): string | undefined {
  const stops = stopWordsOf(language);
  if (language === "en" && hasty.has(word)) return hasty.get(word);
  const isSwapped = (other: string): boolean => slipsBetween(word, other, 1) === 1;
  const swapped = (stopWordsByLetters(language).get(lettersIn(word)) ?? []).filter(isSwapped);
  const meant = likeliest.find((each) => swapped.includes(each)) ?? swapped[0];
  if (meant !== undefined) return meant;
  // "pleeease", "whatt"
  const held = [word.replaceAll(/(.)\1{2,}/gu, "$1$1"), word.replaceAll(/(.)\1+/gu, "$1")];
  return held.find((each) => each !== word && each.length >= swappedMin && stops.has(each));
}

/** The one that it lacks a letter of. */
export function stopWordLacking(word: string, language: WordLanguage = "en"): string | undefined {
  if (word.length < missingFrom - 1 || !isSpelt(word)) return undefined;
  const initial = word.charAt(0);
  for (const stop of stopWordsOf(language)) {
    if (stop.length === word.length + 1 && stop.startsWith(initial) && slipsBetween(word, stop, 1) === 1) return stop;
  }
  return undefined;
}

/**
 * The text with the stop words in it written right. `knows`: whether a document has the word; `nears`: whether one has
 * a word that it could be meant for as well.
 */
export function withStopWordsRight(
  text: string,
  words: readonly string[],
  language: WordLanguage,
  knows: (word: string) => boolean,
  nears: (word: string) => boolean,
): string {
  const meant = new Map<string, string>();
  for (const word of words) {
    if (knows(word)) continue;
    const right = stopWordSwapped(word, language) ?? (nears(word) ? undefined : stopWordLacking(word, language));
    if (right !== undefined) meant.set(word, right);
  }
  if (meant.size === 0) return text;
  const shouts = !/\p{Ll}/u.test(text);
  let right = text;
  for (const run of new Set(runsOf(text))) {
    // AWS is not "was".
    if (!shouts && run.length > 1 && run === run.toUpperCase()) continue;
    const word = meant.get(language === "en" ? fold(run) : plain(language, run));
    if (word !== undefined)
      right = right.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])${run}(?![\\p{L}\\p{N}])`, "gu"), word);
  }
  return right;
}

import { stopwords as japanese } from "@orama/stopwords/japanese";
import { stopwords as chinese } from "@orama/stopwords/mandarin";
import { ja } from "#language/locales/ja.ts";
import { ko } from "#language/locales/ko.ts";
import { zh } from "#language/locales/zh.ts";
import { fold, isUnspaced, runsOf } from "./runs.ts";

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
/** A longer "word" is an encoded blob, not something that is asked for. */
const wordCharactersMax = 64;

const hangul = /^\p{Script=Hangul}+$/u;
/** Particles that Korean attaches to a noun; a word of two syllables keeps its own. */
const particles =
  /(?:으로부터|에게서|에서는|이라는|으로는|까지는|입니다|합니다|됩니다|하나요|되나요|인가요|있나요|나요|에서|에게|으로|까지|부터|처럼|보다|라도|이나|하고|은|는|이|가|을|를|에|의|로|와|과|도|만)$/u;

/** Particles and pronouns of Japanese and Chinese, which no other language has as words. */
const unspacedStops = new Set(
  [...japanese, ...chinese, ...ja.stopWords.split(/\s+/), ...zh.stopWords.split(/\s+/)].map(fold),
);
const koreanStops = new Set(ko.stopWords.split(/\s+/));

/** The words of a run that needs no knowledge of its language, or undefined. */
export function unspacedWords(run: string): string[] | undefined {
  if (isUnspaced(run)) {
    const words: string[] = [];
    for (const part of segmenter.segment(run)) {
      const word = part.segment.slice(0, wordCharactersMax);
      if (part.isWordLike === true && !unspacedStops.has(word)) words.push(word);
    }
    return words;
  }
  if (!hangul.test(run)) return undefined;
  const word = run.length > 2 ? run.replace(particles, "") || run : run;
  return koreanStops.has(word) || koreanStops.has(run) ? [] : [word];
}

/** The words of a text in order, folded, with stop words; apostrophes dropped ("don't" is "dont", "user's" is "user"). */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const found of runsOf(fold(text))) {
    const apart = unspacedWords(found);
    if (apart !== undefined) {
      words.push(...apart);
      continue;
    }
    const word = found.replace(/['’ʼ]s$/u, "").replaceAll(/['’ʼ]/gu, "");
    words.push(word.slice(0, wordCharactersMax));
  }
  return words;
}

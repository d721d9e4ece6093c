import { stopwords as japanese } from "@orama/stopwords/japanese";
import { stopwords as chinese } from "@orama/stopwords/mandarin";
import { fold } from "./english.ts";

const wordPattern = /[\p{L}\p{N}\p{M}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
/** Scripts that write words without spaces between them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
/** A longer "word" is an encoded blob, not something that is asked for. */
const wordCharactersMax = 64;

const hangul = /^\p{Script=Hangul}+$/u;
/** What Korean writes behind a noun without a space; a word of two syllables is left as it is. */
const particles =
  /(?:으로부터|에게서|에서는|이라는|으로는|까지는|입니다|합니다|됩니다|하나요|되나요|인가요|있나요|나요|에서|에게|으로|까지|부터|처럼|보다|라도|이나|하고|은|는|이|가|을|를|에|의|로|와|과|도|만)$/u;

// The particles and pronouns of Japanese and Chinese, which no other language has as words.
const unspacedStops = new Set(
  [
    ...japanese,
    ...chinese,
    ..."か ください 下さい ですか どう どうやって どうすれば いつ いくら 何 教え たい 方法 場合 请问 请 何年 何日 何時 何回 何円 いくつ 怎么 怎样 如何 什么 多少 可以 能 吗 呢 需要 想 要".split(
      " ",
    ),
  ].map(fold),
);

const koreanStops = new Set(
  "얼마나 얼마 어떻게 언제 어디 어디서 무엇 왜 누구 몇 수 있 있나요 하 하나요 할 싶어요 싶 좀 제 저 내 그 이 것 해요 걸리 되 어떤 주세요 알려주세요".split(
    " ",
  ),
);

/** A text's runs of letters, digits and marks; within one only apostrophes. Folded where the text is. */
export function runsOf(text: string): readonly string[] {
  return text.match(wordPattern) ?? [];
}

export const isUnspaced = (run: string): boolean => unspaced.test(run);

/** The words of a run that needs no knowledge of its language, or undefined. */
export function unspacedWords(run: string): string[] | undefined {
  if (unspaced.test(run)) {
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

import { fold, isUnspaced } from "./runs.ts";
import { splitSentences } from "./sentences.ts";

/** Characters from which a sentence is long enough to be nobody's own words by chance. */
const lettersMin = 20;
const unspacedLettersMin = 8;
const keyWords = 3;
const sentencesMax = 2_000;
/** Sentences with the same first words. */
const alikeMax = 30;
const textMax = 32_000;

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * A text without the sentences of earlier messages that it repeats word for word: mail programs quote them in ways that
 * nobody can tell from what the writer says. Line breaks, quotation marks and Markdown between the words do not count.
 */
export function withoutRepeatedSentences(text: string, earlier: readonly string[]): string {
  if (text.length > textMax || earlier.length === 0) return text;
  const words = wordsIn(text);
  const known = sentencesOf(earlier);
  const cuts: { readonly from: number; readonly to: number }[] = [];
  for (let at = 0; at < words.length;) {
    const length = longestAt(words, at, known);
    const [first, last] = [words[at], words[at + length - 1]];
    if (length === 0 || first === undefined || last === undefined) {
      at += 1;
      continue;
    }
    cuts.push({ from: first.start, to: last.end });
    at += length;
  }
  return cuts.length === 0 ? text : withoutCuts(text, cuts);
}

const wordsIn = (text: string): Word[] =>
  [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map(({ 0: word, index }) => ({
    text: fold(word),
    start: index,
    end: index + word.length,
  }));

const keyOf = (words: readonly Word[], at: number, count: number): string =>
  words
    .slice(at, at + count)
    .map((word) => word.text)
    .join(" ");

/** The words of long sentences, by the first of them. */
type Sentences = ReadonlyMap<string, readonly (readonly string[])[]>;

function sentencesOf(earlier: readonly string[]): Sentences {
  const byKey = new Map<string, (readonly string[])[]>();
  const sentences = earlier
    .flatMap((message) => message.split("\n").flatMap((line) => splitSentences(line)))
    // A question of a reply may be one that the customer asks: the bot offers the titles of answers.
    .filter((sentence) => !/[?？؟]["'”’)*_]{0,3}$/u.test(sentence))
    .slice(-sentencesMax);
  for (const sentence of sentences) {
    const words = wordsIn(sentence);
    const letters = words.map((word) => word.text).join("");
    if (letters.length < (isUnspaced(letters) ? unspacedLettersMin : lettersMin)) continue;
    const key = keyOf(words, 0, keyWords);
    const alike = byKey.get(key) ?? [];
    if (alike.length < alikeMax) byKey.set(key, [...alike, words.map((word) => word.text)]);
  }
  return byKey;
}

/** The number of words of the longest sentence that stands there; 0 where none does. */
function longestAt(words: readonly Word[], at: number, known: Sentences): number {
  let longest = 0;
  for (let count = 1; count <= keyWords; count += 1) {
    for (const sentence of known.get(keyOf(words, at, count)) ?? []) {
      if (sentence.length > longest && sentence.every((text, index) => words[at + index]?.text === text))
        longest = sentence.length;
    }
  }
  return longest;
}

/** Lines that hold nothing else are left out with what was cut from them. */
function withoutCuts(text: string, cuts: readonly { readonly from: number; readonly to: number }[]): string {
  let left = "";
  let at = 0;
  for (const { from, to } of cuts) {
    left += `${text.slice(at, from)}\ue000`;
    at = to;
  }
  return `${left}${text.slice(at)}`
    .split("\n")
    .filter((line) => !line.includes("\ue000") || /[\p{L}\p{N}]/u.test(line))
    .join("\n")
    .replaceAll(/\ue000[.!?,;:…。！？]?/gu, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

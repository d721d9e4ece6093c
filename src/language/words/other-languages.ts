import { fold } from "./runs.ts";
import { locales } from "#language/locales.ts";
import type { OtherLanguage } from "./word-languages.ts";
import { wordPackages } from "./word-languages.ts";
import { isStopWord, plain } from "#language/detection.ts";
import { runsOf } from "./runs.ts";
import { unspacedWords } from "./tokens.ts";

const letters = /^\p{L}[\p{L}\p{M}]*$/u;
const wordCharactersMax = 64;
const rememberedMax = 20_000;
const remembered = new Map<string, string>();

function stemIn(language: OtherLanguage, word: string): string {
  if (!letters.test(word)) return plain(language, word);
  const key = `${language}${word}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  let whole = word;
  for (const [ending, accented] of locales[language].spelling.restored) whole = whole.replace(ending, accented);
  const made = plain(language, wordPackages[language].stem(whole));
  if (remembered.size >= rememberedMax) remembered.clear();
  remembered.set(key, made);
  return made;
}

/** The content words of a text in another language than English, folded, each with its stem. */
export function otherWordsOf(
  text: string,
  language: OtherLanguage,
): { readonly word: string; readonly term: string }[] {
  const words: { readonly word: string; readonly term: string }[] = [];
  // The capital of the Turkish i becomes two characters in lower case, which no stemmer knows.
  for (const run of runsOf(text.normalize("NFC").toLowerCase().replaceAll("i\u0307", "i"))) {
    const apart = unspacedWords(fold(run));
    if (apart !== undefined) {
      words.push(...apart.map((word) => ({ word, term: word })));
      continue;
    }
    for (const part of partsOf(run, language)) {
      const word = plain(language, part);
      if (word !== "" && !isStopWord(language, word)) words.push({ word, term: stemIn(language, part) });
    }
  }
  return words;
}

function partsOf(run: string, language: OtherLanguage): string[] {
  const whole = run.slice(0, wordCharactersMax);
  if (locales[language].spelling.elides) return whole.split(/['’ʼ]/u);
  return [whole.replace(/['’ʼ]s$/u, "").replaceAll(/['’ʼ]/gu, "")];
}

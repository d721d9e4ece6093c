import type { Word } from "#language/words/terms.ts";
import type { WordLanguage } from "#language/detection.ts";
import { guessLanguages, languageOf } from "#language/detection.ts";
import { contentWordsOf } from "#language/words/terms.ts";

export interface PassageWords {
  readonly titleWords: readonly Word[];
  readonly bodyWords: readonly Word[];
}

/** Adds content words to the passages of one document. Every index must use the same words. */
export function withWords<T extends { readonly title: string; readonly text: string }>(
  passages: readonly T[],
): readonly (T & PassageWords)[] {
  const ofAll = likelyLanguages(passages.map(({ title, text }) => `${title}\n${text}`).join("\n"));
  return passages.map((passage) => {
    // A document can be in two languages. A passage that is too short for detection uses the document's language.
    const own = guessLanguages(passage.text);
    const languages = own.sure ? own.languages.slice(0, 1) : ofAll;
    return {
      ...passage,
      titleWords: wordsIn(passage.title, languages),
      bodyWords: wordsIn(passage.text, languages),
    };
  });
}

/** The language of a document. Tables and lists of names prove none: such a document is read in English, too. */
function likelyLanguages(text: string): readonly WordLanguage[] {
  const likely = languageOf(text);
  return likely === "en" || guessLanguages(text).sure ? [likely] : [likely, "en"];
}

/** The words in the first language, then those that another one reads otherwise. */
function wordsIn(text: string, [first = "en", ...others]: readonly WordLanguage[]): readonly Word[] {
  const words = contentWordsOf(text, first);
  for (const language of others) {
    const known = new Set(words.map(({ term }) => term));
    words.push(...contentWordsOf(text, language).filter(({ term }) => !known.has(term)));
  }
  return words;
}

export const stemsOf = (words: readonly Word[]): string[] => words.map(({ term }) => term);

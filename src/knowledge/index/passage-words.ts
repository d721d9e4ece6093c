import type { Word } from "#language/words/terms.ts";
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
  const ofAll = languageOf(passages.map(({ title, text }) => `${title}\n${text}`).join("\n"));
  return passages.map((passage) => {
    // A document can be in two languages. A passage that is too short for detection uses the document's language.
    const { languages, sure } = guessLanguages(passage.text);
    const language = sure ? (languages[0] ?? ofAll) : ofAll;
    return {
      ...passage,
      titleWords: contentWordsOf(passage.title, language),
      bodyWords: contentWordsOf(passage.text, language),
    };
  });
}

export const stemsOf = (words: readonly Word[]): string[] => words.map(({ term }) => term);

import type { Word } from "#language/terms.ts";
import { guessLanguages, languageOf } from "#language/detection.ts";
import { contentWordsOf } from "#language/terms.ts";

export interface PassageWords {
  readonly titleWords: readonly Word[];
  readonly bodyWords: readonly Word[];
}

/** A document's passages, in their order, with their content words: the same for every index. */
export function withWords<T extends { readonly title: string; readonly text: string }>(
  passages: readonly T[],
): readonly (T & PassageWords)[] {
  const ofAll = languageOf(passages.map(({ title, text }) => `${title}\n${text}`).join("\n"));
  return passages.map((passage) => {
    // One document can be in two languages, and a passage can be too short to tell.
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

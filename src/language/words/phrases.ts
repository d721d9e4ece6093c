import { fold, isUnspaced, runsOf } from "./runs.ts";

/** A text as its words: in lower case, without accents and apostrophes. */
export interface Words {
  readonly folded: string;
  readonly words: readonly string[];
}

export function wordsIn(text: string): Words {
  const folded = fold(text);
  return { folded, words: runsOf(folded).map((word) => word.replaceAll(/['’ʼ]/gu, "")) };
}

/** Whether the text has this phrase, word for word; where a script has no spaces, anywhere. */
export function hasPhrase({ folded, words }: Words, phrase: string): boolean {
  if (isUnspaced(phrase)) return folded.includes(fold(phrase).trim());
  const wanted = wordsIn(phrase).words;
  if (wanted.length === 0) return false;
  for (let at = 0; at + wanted.length <= words.length; at += 1) {
    if (wanted.every((word, offset) => words[at + offset] === word)) return true;
  }
  return false;
}

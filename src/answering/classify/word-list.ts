import { fold } from "#language/words/runs.ts";
import { typoDistance } from "#language/words/spelling.ts";

/** Ends a stem in a list: "operator*" is each word that begins so. */
const stemMark = "*";
const stemMin = 3;
const stemMax = 24;
/** Shorter words turn into others by a typo. */
const misspeltFrom = 7;

/** Words in one spelling: lower case, without accents. */
export interface WordList {
  readonly has: (word: string) => boolean;
  /** Whether a word lacks a letter of one of the list, has one too many, or has two swapped. */
  readonly hasMisspelt: (word: string) => boolean;
}

/** Reads words and stems that are separated by spaces. */
export function wordList(text: string): WordList {
  const entries = fold(text).replaceAll(/['’ʼ]/gu, "").split(/\s+/u);
  const forms = new Set(entries.filter((entry) => entry !== ""));
  const long = [...forms].map((form) => form.replace(stemMark, "")).filter((form) => form.length >= misspeltFrom);
  return {
    has: (word) => formsOf(word).some((form) => forms.has(form)),
    hasMisspelt: (word) => word.length >= misspeltFrom - 1 && long.some((form) => isMisspelt(word, form)),
  };
}

/** A word, and the stems that it can have, in the form of a list. */
export function formsOf(word: string): readonly string[] {
  const forms = [word];
  for (let length = stemMin; length <= Math.min(word.length, stemMax); length += 1)
    forms.push(word.slice(0, length) + stemMark);
  return forms;
}

/** Whether a word is this entry of a list, or has its stem. */
export const isForm = (word: string | undefined, entry: string): boolean =>
  word !== undefined && (entry.endsWith(stemMark) ? word.startsWith(entry.slice(0, -1)) : word === entry);

/** Another letter, or one more at the end, makes another word: "managed", "personal". */
function isMisspelt(word: string, meant: string): boolean {
  if (word.at(0) !== meant.at(0) || word.at(-1) !== meant.at(-1)) return false;
  if (typoDistance(word, meant, 1) !== 1) return false;
  return word.length !== meant.length || lettersOf(word) === lettersOf(meant);
}

const lettersOf = (word: string): string => [...word].toSorted().join("");

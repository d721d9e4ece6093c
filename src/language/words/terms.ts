import { stemmer } from "stemmer";
import { englishStopWords } from "./english.ts";
import type { WordLanguage } from "#language/detection.ts";
import { otherWordsOf } from "./other-languages.ts";
import { memoize } from "#runtime/memoize.ts";
import { isUnspaced } from "./runs.ts";
import { wordsOf } from "./tokens.ts";

export { wordsOf } from "./tokens.ts";

/** Soft words: most questions contain them whatever their subject. They count little. */
const softWords = `able add ago allow ask available best call change check come correct cost create different difference do easy
  everybody everyone everything exist explain find fix full give good happen have help here include info information issue keep know leave long look lot
  make mean need new nobody nothing number offer old option order part people place possible problem provide put question reason
  receive recently right say see send set show simple small solve start stop stuff support sure take thing think time today tomorrow try
  turn type understand use want way week wish without work work wrong year yesterday`;

const latin = /^[a-z0-9]+$/;

export function stem(word: string): string {
  return latin.test(word) ? stemmer(word) : word;
}

const softStems = new Set(softWords.split(/\s+/).map((word) => stem(word)));

/** Whether a stem is a soft term. */
export function isSoft(term: string): boolean {
  return softStems.has(term);
}

/** Verbs of two words whose noun is one: "to back up" makes "a backup". The second alone is a word that says nothing. */
const writtenApart: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  [
    { verbs: ["set", "sets", "setting"], with: { up: "setup" } },
    { verbs: ["back", "backs", "backed", "backing"], with: { up: "backup", ups: "backup" } },
    // No "logs": "in the logs in detail" is about logs.
    { verbs: ["log", "logged", "logging"], with: { in: "login", on: "logon", out: "logout" } },
    { verbs: ["sign", "signs", "signed", "signing"], with: { in: "signin", out: "signout", up: "signup" } },
  ].flatMap((each) => each.verbs.map((verb) => [verb, new Map(Object.entries(each.with))] as const)),
);

/** A content word, folded, with its stem. */
export interface Word {
  readonly word: string;
  readonly term: string;
}

/** The content words of a text, in order, with repetitions. */
export function contentWordsOf(text: string, language: WordLanguage = "en"): Word[] {
  if (language !== "en") return otherWordsOf(text, language);
  const words: Word[] = [];
  const all = wordsOf(text);
  for (let at = 0; at < all.length; at += 1) {
    const word = all[at] ?? "";
    const joined = writtenApart.get(word)?.get(all[at + 1] ?? "");
    if (joined !== undefined) at += 1;
    const read = joined ?? word;
    if (!englishStopWords.has(read)) words.push({ word: read, term: stem(read) });
  }
  return words;
}

/** The stems of the content words. Index and questions must use the same ones. */
export function termsOf(text: string, language: WordLanguage = "en"): string[] {
  return contentWordsOf(text, language).map(({ term }) => term);
}

/** Titles and parts of passages recur from question to question. */
const charactersKept = 1_000_000;
const termsKept = new Map<WordLanguage, (text: string) => readonly string[]>();

/** Like {@link termsOf}, cached for texts that are compared repeatedly. */
export function termsOfPassage(text: string, language: WordLanguage = "en"): readonly string[] {
  let of = termsKept.get(language);
  if (of === undefined) {
    of = memoize(charactersKept, (each) => termsOf(each, language));
    termsKept.set(language, of);
  }
  return of(text);
}

/** Average number of characters per word in scripts without spaces. */
const unspacedCharacters = 2;

/** Approximate number of words, for length limits. */
export function wordCount(text: string): number {
  let count = 0;
  for (const [run] of text.matchAll(/\S+/g)) count += isUnspaced(run) ? Math.ceil(run.length / unspacedCharacters) : 1;
  return count;
}

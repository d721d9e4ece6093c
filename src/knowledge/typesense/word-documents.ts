import { createHash } from "node:crypto";
import type { Word } from "#language/terms.ts";
import type { Search } from "#database/search/typesense/collections.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import type { Searched } from "./search-scope.ts";
import { searchIn } from "./search-scope.ts";
import { createVocabulary, isSpelt, partMin, twoTyposFrom } from "#language/spelling.ts";

// Beside the passages a collection holds their words as they are written, a document for each, so that a word that no
// passage has is taken for the same ones as with the embedded index: passages hold stems, and of a passage that is found
// the server does not tell by which of its words.

export interface WordDocument {
  readonly id: string;
  readonly doc: typeof wordsDoc;
  readonly gate: readonly string[];
  readonly title: "";
  readonly terms: "";
  readonly length: 0;
  readonly written: number;
  /** What it is looked for by. */
  readonly word: string;
  /** The word itself and its stem. */
  readonly form: string;
}

export const wordsDoc = "words";

export const isHeldWord = (word: string): boolean => isSpelt(word, partMin);

const idOf = (word: string): string => `w${createHash("sha256").update(word).digest("hex").slice(0, 24)}`;

export function wordDocument({ word, term }: Word, written: number): WordDocument {
  return {
    id: idOf(word),
    doc: wordsDoc,
    gate: [],
    title: "",
    terms: "",
    length: 0,
    written,
    word: sketchOf(word),
    form: `${word} ${term}`,
  };
}

const digits = 36;

/** A letter or digit of ASCII for each letter: words that are almost alike in any script are so in these. */
function sketchOf(word: string): string {
  return [...word]
    .map((letter) => (/[a-z0-9]/.test(letter) ? letter : ((letter.codePointAt(0) ?? 0) % digits).toString(digits)))
    .join("");
}

/** More words that nothing has are not a slip of the finger. */
const repairsMax = 8;
/** Of those that are near; the nearest come first. */
const nearMax = 40;

/** For words that no passage has, those that the collection has and that they may be meant for, with their stems. */
export async function wordsNear(
  typesense: Typesense,
  searched: Searched,
  words: readonly Word[],
): Promise<ReadonlyMap<Word, readonly Word[]>> {
  const asked = words.filter(({ word }) => isSpelt(word)).slice(0, repairsMax);
  const searches = asked.flatMap(({ word }) => [
    { ...searchFor(searched.collection, nearMax), ...spelledLike(word) },
    { ...searchFor(searched.collection, exactMax), q: "*", filter_by: `id:=[${exactWords(word).map(idOf).join(",")}]` },
  ]);
  const results = await searchIn<{ readonly form: string }>(typesense, searched, searches);
  return new Map(
    asked.map((each, index) => {
      const hits = [results[2 * index], results[2 * index + 1]].flatMap((result) => result?.hits ?? []);
      return [each, hits.map(({ form }) => wordOf(form))];
    }),
  );
}

function wordOf(form: string): Word {
  const [word = "", term = ""] = form.split(" ");
  return { word, term };
}

function spelledLike(word: string): Pick<Search, string> {
  return {
    q: sketchOf(word),
    num_typos: word.length >= twoTyposFrom ? "2" : "1",
    typo_tokens_threshold: 1,
    // Otherwise it takes the four most frequent ones for all.
    exhaustive_search: true,
  };
}

/** Words that are looked for as they are: the halves of two in one, and where the first two letters are swapped. */
function exactWords(word: string): string[] {
  const [first = "", second = "", ...rest] = word;
  const exact = [second + first + rest.join("")];
  for (let at = partMin; at <= word.length - partMin; at += 1) exact.push(word.slice(0, at), word.slice(at));
  return [...new Set(exact)];
}

const exactMax = 100;

function searchFor(collection: string, perPage: number): Search {
  return {
    collection,
    query_by: "word",
    prefix: "false",
    drop_tokens_threshold: 0,
    split_join_tokens: "off",
    enable_synonyms: false,
    page: 1,
    per_page: perPage,
    include_fields: "form",
    highlight_fields: "none",
    highlight_full_fields: "none",
    search_cutoff_ms: 1_500,
  };
}

const meantMax = 3;

/** The stems of those that the word was probably meant for; `frequency` tells which of them a passage has. */
export function meantBy(word: string, near: readonly Word[], frequency: ReadonlyMap<string, number>): string[] {
  const vocabulary = createVocabulary();
  // Of words that were in removed passages alone nobody is thinking.
  for (const each of near) if (frequency.has(each.term)) vocabulary.add(each.word, each.term);
  const count = (term: string): number => frequency.get(term) ?? 0;
  return [...new Set(vocabulary.near(word))]
    .toSorted((left, right) => count(right) - count(left) || (left < right ? -1 : 1))
    .slice(0, meantMax);
}

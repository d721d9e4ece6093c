import { createHash } from "node:crypto";
import type { Word } from "#language/words/terms.ts";
import type { Search } from "#database/search/typesense/collections.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import type { Searched } from "./search-scope.ts";
import { searchIn } from "./search-scope.ts";
import { createVocabulary, isSpelt, partMin, twoTyposFrom } from "#language/words/spelling.ts";

// A collection also holds the words of its passages as they are written, one document each. Passages hold only stems, so
// typing errors are matched against these words, with the same result as in the embedded index.

export interface WordDocument {
  readonly id: string;
  readonly doc: typeof wordsDoc;
  readonly gate: readonly string[];
  readonly title: "";
  readonly terms: "";
  readonly length: 0;
  readonly written: number;
  /** The searched field. */
  readonly word: string;
  /** The word and its stem. */
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

/** Maps each letter to an ASCII letter or digit, so that similar words of any script stay similar. */
function sketchOf(word: string): string {
  return [...word]
    .map((letter) => (/[a-z0-9]/.test(letter) ? letter : ((letter.codePointAt(0) ?? 0) % digits).toString(digits)))
    .join("");
}

/** A question with more unknown words is not a matter of typing errors. */
const repairsMax = 8;
/** Most similar words; the nearest come first. */
const nearMax = 40;

/** For words without passages: similar words of the collection, with their stems. */
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

function spelledLike(word: string): Omit<Search, "collection"> {
  return {
    q: sketchOf(word),
    num_typos: word.length >= twoTyposFrom ? "2" : "1",
    typo_tokens_threshold: 1,
    // Raised because the server's default considers only the four most frequent ones.
    exhaustive_search: true,
  };
}

/** Exact candidates: the halves of two joined words, and the word with its first two letters swapped. */
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

/** Stems of the words that were probably meant. `frequency`: passages per stem. */
export function meantBy(word: string, near: readonly Word[], frequency: ReadonlyMap<string, number>): string[] {
  const vocabulary = createVocabulary();
  // Words of removed passages are still in the collection, and are left out.
  for (const each of near) if (frequency.has(each.term)) vocabulary.add(each.word, each.term);
  const count = (term: string): number => frequency.get(term) ?? 0;
  return [...new Set(vocabulary.near(word))]
    .toSorted((left, right) => count(right) - count(left) || (left < right ? -1 : 1))
    .slice(0, meantMax);
}

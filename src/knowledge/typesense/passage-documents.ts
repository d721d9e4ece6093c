import { createHash } from "node:crypto";
import type { CollectionSchema, Search } from "#database/search/typesense/collections.ts";
import { markId, multiSearch, searchesMax } from "#database/search/typesense/collections.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import type { Searched } from "./search-scope.ts";
import { searchIn } from "./search-scope.ts";
import { wordsDoc } from "./word-documents.ts";

// One collection per workspace, one document per passage. A document holds the same terms as the embedded index, in
// lower-case ASCII, digits and `_`, so that the server's tokenizer does not decide what a word is; texts stay in the
// database. Filter values are hexadecimal digests and numbers, since Typesense cannot quote every character.

/** Raised with every change of the schema, of the documents or of the terms; collections of older forms are then rebuilt. */
export const passagesForm = 6;

export interface PassageDocument {
  readonly id: string;
  readonly doc: string;
  /** The audience tags of its document; `open` for everyone. */
  readonly gate: readonly string[];
  readonly title: string;
  /** Terms of the title, `_`, terms of the text. */
  readonly terms: string;
  readonly length: number;
  /** The version of the workspace's knowledge that it was written for. */
  readonly written: number;
}

export interface Passage {
  readonly id: string;
  readonly documentId: string;
  readonly audience: readonly string[];
  readonly titleTerms: readonly string[];
  readonly bodyTerms: readonly string[];
}

export function passagesSchema(name: string): CollectionSchema {
  return {
    name,
    // `_` begins the tokens of words that are not ASCII, and separates title and text.
    symbols_to_index: ["_"],
    fields: [
      { name: "doc", type: "string" },
      { name: "gate", type: "string[]" },
      { name: "title", type: "string" },
      { name: "terms", type: "string" },
      { name: "length", type: "int32", sort: true },
      { name: "written", type: "int64", sort: true },
      // Fields of the documents that hold words.
      { name: "word", type: "string", optional: true },
      { name: "form", type: "string", optional: true, index: false },
    ],
  };
}

const ascii = /^[a-z0-9]{1,80}$/;
/** The server truncates longer tokens. */
const tokenCharactersMax = 90;

/** Reversible, except for very long words. */
function tokenOf(term: string): string {
  if (ascii.test(term)) return term;
  const hex = Buffer.from(term, "utf8").toString("hex");
  return hex.length < tokenCharactersMax ? `_${hex}` : `_x${digest(term)}`;
}

function termOf(token: string): string | undefined {
  if (!token.startsWith("_")) return token;
  return token.startsWith("_x") ? undefined : Buffer.from(token.slice(1), "hex").toString("utf8");
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);
const open = "open";

export function passageDocument(passage: Passage, written: number): PassageDocument {
  const title = passage.titleTerms.map(tokenOf).join(" ");
  return {
    id: passage.id,
    doc: digest(passage.documentId),
    gate: passage.audience.length === 0 ? [open] : passage.audience.map(digest),
    title,
    terms: `${title} _ ${passage.bodyTerms.map(tokenOf).join(" ")}`,
    length: passage.titleTerms.length + passage.bodyTerms.length,
    written,
  };
}

/** A filter for the passages of these documents; with `version`, only for passages written for an earlier version. */
export function ofDocuments(documentIds: readonly string[], before?: number): string {
  const documents = `doc:=[${documentIds.map(digest).join(",")}]`;
  return before === undefined ? documents : `(${documents}) && (written:<${Math.floor(before)})`;
}

/** A filter for the passages that a customer may see. Every operand is in parentheses, since `&&` and `||` have equal precedence. */
function filterFor(audience: readonly string[], documentIds: readonly string[] | undefined): string {
  const gates = [open, ...audience.map(digest)].join(",");
  return documentIds === undefined ? `(gate:=[${gates}])` : `(${ofDocuments(documentIds)}) && (gate:=[${gates}])`;
}

/** The mark is counted like a word. */
export const markDocument = (written: number) => ({
  id: markId,
  doc: wordsDoc,
  gate: [],
  title: "",
  terms: "",
  length: 0,
  written,
});

function searchFor(collection: string, terms: readonly string[], perPage: number): Search {
  return {
    collection,
    q: terms.map(tokenOf).join(" "),
    query_by: "title,terms",
    query_by_weights: "2,1",
    // Exact terms only.
    prefix: "false,false",
    num_typos: "0,0",
    typo_tokens_threshold: 0,
    drop_tokens_threshold: 0,
    split_join_tokens: "off",
    enable_synonyms: false,
    page: 1,
    per_page: perPage,
    include_fields: "id,terms",
    highlight_fields: "none",
    highlight_full_fields: "none",
    search_cutoff_ms: 1_500,
  };
}

/** The number of passages with each term; terms without passages are absent. */
export async function frequencies(
  typesense: Typesense,
  searched: Searched,
  terms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const asked = terms.filter((term) => term !== "");
  const found = new Map<string, number>();
  for (let first = 0; first < asked.length; first += searchesMax) {
    const some = asked.slice(first, first + searchesMax);
    const searches = some.map((term) => searchFor(searched.collection, [term], 0));
    for (const [index, result] of (await searchIn(typesense, searched, searches)).entries()) {
      const term = some[index];
      if (term !== undefined && result.found > 0) found.set(term, result.found);
    }
  }
  return found;
}

/** The number of terms that are searched alone, and of those that are also searched in pairs. */
const singlesMax = 12;
const pairedMax = 7;
const hitsEach = 25;

/** The number of passages in the collection. */
export async function countPassages(typesense: Typesense, collection: string): Promise<number> {
  const search = { ...searchFor(collection, [], 0), q: "*", filter_by: `doc:!=${wordsDoc}` };
  const [result] = await multiSearch(typesense, [search]);
  return result?.found ?? 0;
}

export interface Hit {
  readonly id: string;
  readonly titleTerms: readonly string[];
  readonly bodyTerms: readonly string[];
  /** Some of its terms cannot be restored from the stored tokens. */
  readonly garbled: boolean;
}

/**
 * Passages with some of these terms, which are given rarest first. A search of Typesense finds passages with all of its
 * words, so there is one search for each rare term, and one for each pair of the rarest.
 */
export async function candidates(
  typesense: Typesense,
  searched: Searched,
  terms: readonly string[],
  { audience, documentIds }: { readonly audience: readonly string[]; readonly documentIds?: readonly string[] },
): Promise<readonly Hit[]> {
  const filter = filterFor(audience, documentIds);
  const paired = terms.slice(0, pairedMax);
  const wanted = [
    ...terms.slice(0, singlesMax).map((term) => [term]),
    ...paired.flatMap((term, index) => paired.slice(index + 1).map((other) => [term, other])),
  ];
  const searches = wanted.map((each) => ({
    ...searchFor(searched.collection, each, hitsEach),
    filter_by: filter,
    sort_by: "_text_match:desc,length:asc",
  }));
  const found = new Map<string, Hit>();
  for (const { hits } of await searchIn<{ readonly id: string; readonly terms: string }>(
    typesense,
    searched,
    searches,
  )) {
    for (const { id, terms: held } of hits) if (!found.has(id)) found.set(id, hitOf(id, held));
  }
  return [...found.values()];
}

function hitOf(id: string, held: string): Hit {
  const titleTerms: string[] = [];
  const bodyTerms: string[] = [];
  let into = titleTerms;
  let garbled = false;
  for (const token of held.split(" ")) {
    if (token === "") continue;
    if (token === "_") {
      into = bodyTerms;
      continue;
    }
    const term = termOf(token);
    if (term === undefined) garbled = true;
    else into.push(term);
  }
  return { id, titleTerms, bodyTerms, garbled };
}

import { createHash } from "node:crypto";
import type { CollectionSchema, Search } from "#database/search/typesense/collections.ts";
import { markId, multiSearch, searchesMax } from "#database/search/typesense/collections.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import type { Searched } from "./search-scope.ts";
import { searchIn } from "./search-scope.ts";
import { wordsDoc } from "./word-documents.ts";

// One collection a workspace, one document a passage. What it holds are the same terms as in the embedded index, in
// lower-case ASCII, digits and `_`, so that what a word is does not depend on the server's tokenizer; texts stay in the
// database. Values that are filtered by are hexadecimal digests and numbers: Typesense has no complete way to quote.

/** To be raised with every change of the schema, of what a document holds, or of what terms are: collections are built anew. */
export const passagesForm = 4;

export interface PassageDocument {
  readonly id: string;
  readonly doc: string;
  /** The tags of its document; `open` for everyone. */
  readonly gate: readonly string[];
  readonly title: string;
  /** The title's terms, `_`, and the text's. */
  readonly terms: string;
  readonly length: number;
  /** The workspace's version that it was written for. */
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
    // Begins the tokens of words that are not ASCII, and stands between title and text.
    symbols_to_index: ["_"],
    fields: [
      { name: "doc", type: "string" },
      { name: "gate", type: "string[]" },
      { name: "title", type: "string" },
      { name: "terms", type: "string" },
      { name: "length", type: "int32", sort: true },
      { name: "written", type: "int64", sort: true },
      // Of the documents that are no passages but words.
      { name: "word", type: "string", optional: true },
      { name: "form", type: "string", optional: true, index: false },
    ],
  };
}

const ascii = /^[a-z0-9]{1,80}$/;
/** The server cuts longer ones. */
const tokenCharactersMax = 90;

/** Reversible but for words of enormous length. */
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

/** The passages of these documents that were written for an older version of the workspace than this; all without it. */
export function ofDocuments(documentIds: readonly string[], before?: number): string {
  const documents = `doc:=[${documentIds.map(digest).join(",")}]`;
  return before === undefined ? documents : `(${documents}) && (written:<${Math.floor(before)})`;
}

/** What an asker may be shown. Every operand has parentheses of its own: `&&` and `||` bind alike. */
function filterFor(audience: readonly string[], documentIds: readonly string[] | undefined): string {
  const gates = [open, ...audience.map(digest)].join(",");
  return documentIds === undefined ? `(gate:=[${gates}])` : `(${ofDocuments(documentIds)}) && (gate:=[${gates}])`;
}

/** Is counted with the words. */
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
    // Every term as it is, or nothing.
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

/** In how many passages of the collection each term occurs; those that occur in none are absent. */
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

/** Single terms that passages are looked for by, and of how many of them each two together. */
const singlesMax = 12;
const pairedMax = 7;
const hitsEach = 25;

/** How many passages the collection has. */
export async function countPassages(typesense: Typesense, collection: string): Promise<number> {
  const search = { ...searchFor(collection, [], 0), q: "*", filter_by: `doc:!=${wordsDoc}` };
  const [result] = await multiSearch(typesense, [search]);
  return result?.found ?? 0;
}

export interface Hit {
  readonly id: string;
  readonly titleTerms: readonly string[];
  readonly bodyTerms: readonly string[];
  /** Some of its terms cannot be told from what is stored. */
  readonly garbled: boolean;
}

/**
 * Passages that hold some of these terms, which are given rarest first. Typesense finds all words or none, so it is asked
 * for each of the rare ones and for each two of the rarest.
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

import type { Typesense } from "./client.ts";
import { TypesenseAway, reasonOf } from "./client.ts";

// What is done with collections whatever they hold.

export interface CollectionSchema {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: string; readonly [setting: string]: unknown }[];
  readonly [setting: string]: unknown;
}

/** Thrown when the collection is not there: somebody deleted it, or the server is another one. */
export class CollectionGone extends Error {
  readonly collection: string;

  constructor(collection: string) {
    super(`Typesense has no collection ${collection}`);
    this.name = "CollectionGone";
    this.collection = collection;
  }
}

/**
 * Thrown when a collection lacks writes that the server has acknowledged: it still reads its log after a start, follows
 * its leader late, or was restored from a backup.
 */
export class CollectionBehind extends Error {
  readonly collection: string;

  constructor(collection: string) {
    super(`Typesense has an older state of the collection ${collection}`);
    this.name = "CollectionBehind";
    this.collection = collection;
  }
}

const importTimeoutMs = 30_000;
const importCharactersMax = 2_000_000;

/** `schema` has the collection's name. */
export async function createCollection(typesense: Typesense, schema: CollectionSchema): Promise<void> {
  const { status, text } = await typesense.request("POST", "/collections", { body: schema });
  // There already: from a try before this one.
  if (status !== 201 && status !== 200 && status !== 409) throw refusal("make a collection", status, text);
}

export async function dropCollection(typesense: Typesense, name: string): Promise<void> {
  const { status, text } = await typesense.request("DELETE", `/collections/${name}`, { timeoutMs: importTimeoutMs });
  if (status !== 200 && status !== 404) throw refusal("delete a collection", status, text);
}

export async function pointAlias(typesense: Typesense, alias: string, collection: string): Promise<void> {
  const { status, text } = await typesense.request("PUT", `/aliases/${alias}`, {
    body: { collection_name: collection },
  });
  if (status !== 200) throw refusal("set an alias", status, text);
}

export async function deleteAlias(typesense: Typesense, alias: string): Promise<void> {
  const { status, text } = await typesense.request("DELETE", `/aliases/${alias}`);
  if (status !== 200 && status !== 404) throw refusal("delete an alias", status, text);
}

/**
 * Writes documents, each in place of the one with its id. One that the server will never take is told of and left out.
 * Can be done again from the beginning when it fails in the middle.
 */
export async function importDocuments<T extends { readonly id: string }>(
  typesense: Typesense,
  collection: string,
  documents: readonly T[],
  onRefused: (document: T, refused: Refused) => void,
): Promise<void> {
  let batch: T[] = [];
  let characters = 0;
  let lines: string[] = [];
  const send = async (): Promise<void> => {
    if (batch.length === 0) return;
    const sent = batch;
    const body = lines.join("\n");
    batch = [];
    lines = [];
    characters = 0;
    const { status, text } = await typesense.request(
      "POST",
      `/collections/${collection}/documents/import?action=upsert`,
      {
        body,
        timeoutMs: importTimeoutMs,
      },
    );
    if (status === 404) throw new CollectionGone(collection);
    if (status !== 200) throw refusal("take documents", status, text);
    for (const [index, refused] of refusedLines(text, sent.length)) {
      const document = sent[index];
      if (document !== undefined) onRefused(document, refused);
    }
  };
  for (const document of documents) {
    const line = JSON.stringify(document);
    lines.push(line);
    batch.push(document);
    characters += line.length;
    if (characters >= importCharactersMax) await send();
  }
  await send();
}

export interface Refused {
  readonly code: number;
  /** The server's words; may quote the document. */
  readonly error: string;
}

/** The answer is 200 whatever became of the documents; a line each tells. */
function refusedLines(text: string, count: number): ReadonlyMap<number, Refused> {
  const results = text.split("\n").filter((line) => line !== "");
  if (results.length !== count) throw new TypesenseAway("it answered to an import with too few lines");
  const refused = new Map<number, Refused>();
  for (const [index, line] of results.entries()) {
    let result: { readonly success?: unknown; readonly code?: unknown; readonly error?: unknown };
    try {
      result = JSON.parse(line) as typeof result;
    } catch (error) {
      throw new TypesenseAway("its answer to an import was cut off", { cause: error });
    }
    if (result.success === true) continue;
    const code = typeof result.code === "number" ? result.code : 0;
    // Out of memory or disk, or behind its leader: it may take them later.
    if (code === 0 || code >= 500 || code === 422) throw new TypesenseAway(`it refused a document with ${code}`);
    refused.set(index, { code, error: String(result.error).slice(0, 200) });
  }
  return refused;
}

/** Every collection that the key may see. */
export async function listCollections(typesense: Typesense, signal?: AbortSignal): Promise<readonly string[]> {
  const options = signal === undefined ? {} : { signal };
  const { status, text } = await typesense.request("GET", "/collections?exclude_fields=fields", options);
  if (status !== 200) throw refusal("list collections", status, text);
  const listed = parse(text);
  if (!Array.isArray(listed)) throw new TypesenseAway("it answered with no list of collections");
  return (listed as readonly { readonly name?: unknown }[]).map(({ name }) => String(name));
}

const ownName = /^(wt_[a-z0-9]+_[a-z0-9]+)_v\d+_[0-9a-f]{10}$/;

/** The workspace whose collection behind this prefix has the name; undefined: it is none of this program's. */
export const workspaceOf = (prefix: string, name: string): string | undefined =>
  name.startsWith(prefix) ? ownName.exec(name.slice(prefix.length))?.[1] : undefined;

/** Collections of these workspaces that none of them uses. Another installation may use the same server. */
export function orphansAmong(
  prefix: string,
  names: readonly string[],
  workspaces: readonly { readonly id: string }[],
  used: readonly { readonly live: string | null; readonly building: string | null }[],
): readonly string[] {
  const known = new Set(workspaces.map(({ id }) => id));
  const needed = new Set(used.flatMap(({ live, building }) => [live, building]));
  return names.filter((name) => known.has(workspaceOf(prefix, name) ?? "") && !needed.has(name));
}

/**
 * Resolves when the server has done all that was written into the collection before, also what it does from its log
 * after a start: until then it may answer to reads as if that were not there. Throws {@link CollectionGone}.
 */
export const awaitWritten = (typesense: Typesense, collection: string): Promise<void> =>
  deleteDocuments(typesense, collection, "id:=nothing");

/** Deletes all that fit. */
export async function deleteDocuments(typesense: Typesense, collection: string, filterBy: string): Promise<void> {
  const path = `/collections/${collection}/documents?${new URLSearchParams({ filter_by: filterBy }).toString()}`;
  const { status, text } = await typesense.request("DELETE", path, { timeoutMs: importTimeoutMs });
  if (status === 404) throw new CollectionGone(collection);
  if (status !== 200) throw refusal("delete documents", status, text);
}

export async function deleteDocument(typesense: Typesense, collection: string, id: string): Promise<void> {
  const path = `/collections/${collection}/documents/${encodeURIComponent(id)}`;
  const { status, text } = await typesense.request("DELETE", path);
  if (status !== 200 && status !== 404) throw refusal("delete a document", status, text);
}

/** What one of several searches gave. The whole answer is 200 whatever became of them. */
export interface Found<D> {
  /** How many documents there are, of which `hits` has the first. */
  readonly found: number;
  readonly hits: readonly D[];
}

interface MultiSearch {
  readonly results?: readonly {
    readonly code?: number;
    readonly error?: string;
    readonly search_cutoff?: boolean;
    readonly found?: number;
    readonly hits?: readonly { readonly document: unknown }[];
  }[];
}

/** The server takes 50 searches in a request; one is for the mark. */
export const searchesMax = 49;

export type Search = { readonly collection: string } & Readonly<Record<string, string | number | boolean>>;

/** Id of the document with the number of the last write. */
export const markId = "mark";

/** What the mark has to tell at least. `query`: any field of text. */
export interface Mark {
  readonly collection: string;
  readonly field: string;
  readonly query: string;
  readonly atLeast: number;
}

/** The same as {@link multiSearch}, of one collection. Throws {@link CollectionBehind} where its mark is an older one. */
export async function multiSearchSince<D>(
  typesense: Typesense,
  { collection, field, query, atLeast }: Mark,
  searches: readonly Search[],
): Promise<readonly Found<D>[]> {
  const mark = { collection, q: "*", query_by: query, filter_by: `id:=${markId}`, per_page: 1, include_fields: field };
  // First, so that the others see at least what it tells of.
  const [told, ...found] = await multiSearch<Readonly<Record<string, number>>>(typesense, [mark, ...searches]);
  if ((told?.hits[0]?.[field] ?? -1) < atLeast) throw new CollectionBehind(collection);
  return found as readonly Found<unknown>[] as readonly Found<D>[];
}

/** Throws when any of them failed. What a document holds is what the search asked for. */
export async function multiSearch<D>(typesense: Typesense, searches: readonly Search[]): Promise<readonly Found<D>[]> {
  if (searches.length === 0) return [];
  const { status, text } = await typesense.request("POST", "/multi_search", { body: { searches } });
  if (status !== 200) throw refusal("search", status, text);
  const results = (parse(text) as MultiSearch).results ?? [];
  if (results.length !== searches.length) throw new TypesenseAway("it answered with too few results");
  return results.map((result, index) => {
    if (result.code === 404) throw new CollectionGone(searches[index]?.collection ?? "");
    if (result.code !== undefined && result.code >= 500) throw new TypesenseAway(`a search ended with ${result.code}`);
    if (result.hits === undefined) throw new Error(`Typesense refused a search: ${String(result.error).slice(0, 200)}`);
    if (result.search_cutoff === true) throw new SearchCutOff();
    return { found: result.found ?? 0, hits: result.hits.map(({ document }) => document as D) };
  });
}

/** The server ended the search in the middle: what it gave is not all. */
export class SearchCutOff extends Error {
  constructor() {
    super("Typesense ended a search that took too long");
    this.name = "SearchCutOff";
  }
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new TypesenseAway("its answer was cut off", { cause: error });
  }
}

/** What the server would not do, with the mend where there is one. */
function refusal(what: string, status: number, text: string): Error {
  const mend = status === 401 || status === 403 ? ": check TYPESENSE_API_KEY" : "";
  // Nothing was wrong with the work itself, so it waits until the operator has mended it.
  return new TypesenseAway(`Typesense refused to ${what} with ${status}${reasonOf(text)}${mend}`);
}

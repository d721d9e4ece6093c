import type { CollectionCreateSchema, DocumentSchema, MultiSearchRequestsSchema } from "typesense";
import type { Typesense } from "./client.ts";
import { TypesenseAway, isRefusal } from "./client.ts";

// Operations on collections of any content.

export type CollectionSchema = CollectionCreateSchema;

/** Thrown when the collection does not exist: it was deleted, or the server was replaced. */
export class CollectionGone extends Error {
  readonly collection: string;

  constructor(collection: string) {
    super(`Typesense has no collection ${collection}`);
    this.name = "CollectionGone";
    this.collection = collection;
  }
}

/**
 * Thrown when a collection lacks acknowledged writes: the server is reading its log after a start, is behind its leader,
 * or was restored from a backup.
 */
export class CollectionBehind extends Error {
  readonly collection: string;

  constructor(collection: string) {
    super(`Typesense has an older state of the collection ${collection}`);
    this.name = "CollectionBehind";
    this.collection = collection;
  }
}

const slow = { timeoutMs: 30_000 };
const importCharactersMax = 2_000_000;

/** Undefined where the server refuses the request; with `status`, only where it does so with this one. */
export async function unlessRefused<T>(request: Promise<T>, status?: number): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isRefusal(error, status)) return undefined;
    throw error;
  }
}

async function unlessGone<T>(collection: string, request: Promise<T>): Promise<T> {
  const answer = await unlessRefused(request, 404);
  if (answer === undefined) throw new CollectionGone(collection);
  return answer;
}

/** `schema` has the collection's name. */
export async function createCollection(typesense: Typesense, schema: CollectionSchema): Promise<void> {
  // 409: an earlier attempt has created it.
  await unlessRefused(typesense("make a collection").collections().create(schema), 409);
}

export async function dropCollection(typesense: Typesense, name: string): Promise<void> {
  await unlessRefused(typesense("delete a collection", slow).collections(name).delete(), 404);
}

export async function pointAlias(typesense: Typesense, alias: string, collection: string): Promise<void> {
  await typesense("set an alias").aliases().upsert(alias, { collection_name: collection });
}

export async function deleteAlias(typesense: Typesense, alias: string): Promise<void> {
  await unlessRefused(typesense("delete an alias").aliases(alias).delete(), 404);
}

/**
 * Inserts or replaces documents. A document that the server will never accept is reported and skipped. Can be repeated
 * from the beginning after a failure.
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
    const target = typesense("take documents", slow).collections(collection).documents();
    const answer = await unlessGone(collection, target.import(body, { action: "upsert" }));
    for (const [index, refused] of refusedLines(answer, sent.length)) {
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
  /** The server's message; may quote the document. */
  readonly error: string;
}

/** The status is always 200; each line of the answer has the result of one document. */
function refusedLines(text: string, count: number): ReadonlyMap<number, Refused> {
  const results = text.split("\n").filter((line) => line !== "");
  if (results.length !== count) throw new TypesenseAway("it answered to an import with too few lines");
  const refused = new Map<number, Refused>();
  for (const [index, line] of results.entries()) {
    let result: { readonly success?: unknown; readonly code?: unknown; readonly error?: unknown };
    try {
      result = JSON.parse(line) as typeof result;
    } catch {
      // The cause would quote the document.
      throw new TypesenseAway("its answer to an import was cut off");
    }
    if (result.success === true) continue;
    const code = typeof result.code === "number" ? result.code : 0;
    // The server is out of memory or disk, or behind its leader. A later attempt may succeed.
    if (code === 0 || code >= 500 || code === 422) throw new TypesenseAway(`it refused a document with ${code}`);
    refused.set(index, { code, error: String(result.error).slice(0, 200) });
  }
  return refused;
}

/** Names of all collections that the key can access. */
export async function listCollections(typesense: Typesense, signal?: AbortSignal): Promise<readonly string[]> {
  const client = typesense("list collections", signal === undefined ? {} : { signal });
  const listed: unknown = await client.collections().retrieve({ exclude_fields: "fields" });
  if (!Array.isArray(listed)) throw new TypesenseAway("it answered with no list of collections");
  return (listed as readonly { readonly name?: unknown }[]).map(({ name }) => String(name));
}

const ownName = /^(wt_[a-z0-9]+_[a-z0-9]+)_v\d+_[0-9a-f]{10}$/;

/** The workspace of a collection; undefined for collections of other programs. */
export const workspaceOf = (prefix: string, name: string): string | undefined =>
  name.startsWith(prefix) ? ownName.exec(name.slice(prefix.length))?.[1] : undefined;

/** Unused collections of these workspaces. Another installation may use the same server, so others are left alone. */
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
 * Resolves when the server has applied all earlier writes to the collection, including its log after a start. Until then
 * reads may miss them. Throws {@link CollectionGone}.
 */
export const awaitWritten = (typesense: Typesense, collection: string): Promise<void> =>
  deleteDocuments(typesense, collection, "id:=nothing");

/** Deletes all documents that match the filter. */
export async function deleteDocuments(typesense: Typesense, collection: string, filterBy: string): Promise<void> {
  const target = typesense("delete documents", slow).collections(collection).documents();
  await unlessGone(collection, target.delete({ filter_by: filterBy }));
}

export async function deleteDocument(typesense: Typesense, collection: string, id: string): Promise<void> {
  await unlessRefused(typesense("delete a document").collections(collection).documents(id).delete(), 404);
}

/** The result of one of several searches. The status of the whole answer is always 200. */
export interface SearchResult<D> {
  /** Number of matching documents; `hits` has the first of them. */
  readonly found: number;
  readonly hits: readonly D[];
}

/** The server accepts 50 searches per request; one of them reads the mark. */
export const searchesMax = 49;

type AnySearch = MultiSearchRequestsSchema<DocumentSchema, string>["searches"][number];
export type Search = AnySearch & { readonly collection: string };

/** Id of the document with the number of the last write. */
export const markId = "mark";

/** The least number that the mark must have. `query`: any text field. */
export interface Mark {
  readonly collection: string;
  readonly field: string;
  readonly query: string;
  readonly atLeast: number;
}

/** Like {@link multiSearch}, for one collection. Throws {@link CollectionBehind} where its mark is lower. */
export async function multiSearchSince<D>(
  typesense: Typesense,
  { collection, field, query, atLeast }: Mark,
  searches: readonly Search[],
): Promise<readonly SearchResult<D>[]> {
  const mark = { collection, q: "*", query_by: query, filter_by: `id:=${markId}`, per_page: 1, include_fields: field };
  // The mark is read first, so that the searches see at least its writes.
  const [markResult, ...found] = await multiSearch<Readonly<Record<string, number>>>(typesense, [mark, ...searches]);
  if ((markResult?.hits[0]?.[field] ?? -1) < atLeast) throw new CollectionBehind(collection);
  return found as readonly SearchResult<unknown>[] as readonly SearchResult<D>[];
}

/** Throws when any of the searches failed. Documents have the fields that the search requested. */
export async function multiSearch<D>(
  typesense: Typesense,
  searches: readonly Search[],
): Promise<readonly SearchResult<D>[]> {
  if (searches.length === 0) return [];
  const { results } = await typesense("search").multiSearch.perform<DocumentSchema[]>({ searches: [...searches] });
  if (results?.length !== searches.length) throw new TypesenseAway("it answered with too few results");
  return results.map((result, index) => {
    if (result.code === 404) throw new CollectionGone(searches[index]?.collection ?? "");
    if (result.code !== undefined && result.code >= 500) throw new TypesenseAway(`a search ended with ${result.code}`);
    if (result.hits === undefined) throw new Error(`Typesense refused a search: ${String(result.error).slice(0, 200)}`);
    if (result.search_cutoff === true) throw new SearchCutOff();
    return { found: result.found ?? 0, hits: result.hits.map(({ document }) => document as D) };
  });
}

/** The server ended the search early, so its result is incomplete. */
export class SearchCutOff extends Error {
  constructor() {
    super("Typesense ended a search that took too long");
    this.name = "SearchCutOff";
  }
}

import type { Typesense } from "#database/search/typesense/client.ts";
import type { SearchResult, Mark, Search } from "#database/search/typesense/collections.ts";
import { multiSearch, multiSearchSince } from "#database/search/typesense/collections.ts";

/** The collection to search, and the version that it must have; null: the collection is of a form without marks. */
export interface Searched {
  readonly collection: string;
  readonly version: number | null;
}

export function searchIn<D>(
  typesense: Typesense,
  { collection, version }: Searched,
  searches: readonly Search[],
): Promise<readonly SearchResult<D>[]> {
  if (version === null || searches.length === 0) return multiSearch<D>(typesense, searches);
  return multiSearchSince<D>(typesense, markOf(collection, version), searches);
}

const markOf = (collection: string, version: number): Mark => ({
  collection,
  field: "written",
  query: "title",
  atLeast: version,
});

/** Throws CollectionBehind where the collection lacks a write. */
export async function requireComplete(typesense: Typesense, { collection, version }: Searched): Promise<void> {
  if (version !== null) await multiSearchSince(typesense, markOf(collection, version), []);
}

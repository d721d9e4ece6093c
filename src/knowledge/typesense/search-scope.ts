import type { Typesense } from "#database/search/typesense/client.ts";
import type { Found, Mark, Search } from "#database/search/typesense/collections.ts";
import { multiSearch, multiSearchSince } from "#database/search/typesense/collections.ts";

/** What a search may see, and up to which version it has to be complete; null: a collection of a form without marks. */
export interface Searched {
  readonly collection: string;
  readonly version: number | null;
}

export function searchIn<D>(
  typesense: Typesense,
  { collection, version }: Searched,
  searches: readonly Search[],
): Promise<readonly Found<D>[]> {
  if (version === null || searches.length === 0) return multiSearch<D>(typesense, searches);
  return multiSearchSince<D>(typesense, markOf(collection, version), searches);
}

const markOf = (collection: string, version: number): Mark => ({
  collection,
  field: "written",
  query: "title",
  atLeast: version,
});

/** Throws CollectionBehind where the collection is known to lack something. */
export async function requireComplete(typesense: Typesense, { collection, version }: Searched): Promise<void> {
  if (version !== null) await multiSearchSince(typesense, markOf(collection, version), []);
}

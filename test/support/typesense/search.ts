import { readFilter } from "./filter.ts";
import type { FakeCollection, FakeDocument } from "./collection.ts";

// One search as Typesense does it. All words have to be in the queried fields. If too few documents match, similarly
// spelt words are tried first, then words are dropped from one end or from both. Results are ordered by the number of
// matched words, their typos, their proximity, and the field. The choice of similar words follows the server's source,
// since it is not documented.

export type FakeSearch = Readonly<Record<string, string | number | boolean | undefined>>;

const perPageMax = 250;
/** The numbers of words tried for a misspelt one, and of their combinations; an exhaustive search tries more. */
const candidatesUsual = 4;
const combinationsUsual = 10;
const many = 10_000;
/** Longer queries drop words among this many only. */
const droppedFrom = 20;

interface SearchQuery {
  readonly collection: FakeCollection;
  readonly fields: readonly string[];
  readonly weights: readonly number[];
  readonly typosMax: readonly number[];
  readonly prefix: readonly boolean[];
  readonly typoThreshold: number;
  readonly minLengths: readonly [number, number];
  readonly exhaustive: boolean;
  readonly fits: (document: FakeDocument) => boolean;
}

/** The result, or `{code, error}` like the real server for a search that it refuses. */
export function searchCollection(collection: FakeCollection, search: FakeSearch): object {
  const number = (name: string, usual: number): number => Number(search[name] ?? usual);
  const perPage = number("per_page", 10);
  if (perPage > perPageMax) return { code: 422, error: `Only upto ${perPageMax} hits can be fetched per page.` };
  const sort = String(search["sort_by"] ?? "_text_match:desc")
    .split(",")
    .filter((each) => each !== "");
  if (sort.length > 3) return { code: 400, error: "Only upto 3 sort_by fields can be specified." };
  const fields = String(search["query_by"]).split(",");
  for (const field of fields) {
    if (!collection.types.get(field)?.startsWith("string"))
      return { code: 404, error: `Could not find a field named \`${field}\` in the schema.` };
  }
  for (const each of sort) {
    const [name = ""] = each.split(":");
    if (name !== "_text_match" && collection.types.get(name)?.startsWith("int") !== true)
      return { code: 404, error: `Could not find a field named \`${name}\` in the schema for sorting.` };
  }
  const each = (name: string, usual: string): string[] => {
    const values = String(search[name] ?? usual).split(",");
    return fields.map((_, index) => values[index] ?? values[0] ?? usual);
  };
  let fits: (document: FakeDocument) => boolean;
  try {
    fits = readFilter(String(search["filter_by"] ?? ""), collection.types);
  } catch (error) {
    return { code: 400, error: error instanceof Error ? error.message : "Could not parse the filter query." };
  }
  const asked: SearchQuery = {
    collection,
    fields,
    weights: each("query_by_weights", "0").map((weight, index) => Number(weight) || fields.length - index),
    typosMax: each("num_typos", "2").map(Number),
    prefix: each("prefix", "true").map((value) => value === "true"),
    typoThreshold: number("typo_tokens_threshold", 1),
    minLengths: [number("min_len_1typo", 4), number("min_len_2typo", 7)],
    exhaustive: search["exhaustive_search"] === true,
    fits,
  };
  const parts = [...String(search["q"]).matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => ({
    phrase: quoted !== undefined,
    words: collection.tokens(quoted ?? word ?? ""),
  }));
  const everything = String(search["q"]).trim() === "*";
  const found = everything
    ? new Map([...collection.documents.values()].filter(fits).map((document) => [document, 0]))
    : find(asked, parts, {
        threshold: number("drop_tokens_threshold", 1),
        mode: String(search["drop_tokens_mode"] ?? "right_to_left"),
        joining: String(search["split_join_tokens"] ?? "fallback"),
      });
  const page = number("page", 1);
  const include = search["include_fields"] === undefined ? undefined : String(search["include_fields"]).split(",");
  const valueOf = (document: FakeDocument, name: string): number =>
    name === "_text_match" ? (found.get(document) ?? 0) : Number(document[name]);
  const order = sort.map((one) => {
    const [name = "", way] = one.split(":");
    return (left: FakeDocument, right: FakeDocument): number =>
      (way === "desc" ? -1 : 1) * (valueOf(left, name) - valueOf(right, name));
  });
  const sorted =
    perPage === 0
      ? []
      : [...found.keys()].toSorted((left, right) => {
          for (const compare of order) {
            const difference = compare(left, right);
            if (difference !== 0) return difference;
          }
          return collection.numberOf(right) - collection.numberOf(left);
        });
  return {
    found: found.size,
    out_of: collection.documents.size,
    page,
    search_cutoff: false,
    hits: sorted.slice((page - 1) * perPage, page * perPage).map((document) => ({
      document:
        include === undefined
          ? document
          : Object.fromEntries(Object.entries(document).filter(([name]) => include.includes(name))),
      highlight: {},
      text_match: found.get(document),
    })),
  };
}

interface Part {
  readonly phrase: boolean;
  readonly words: readonly string[];
}

/** Matching documents with their text scores. */
function find(
  asked: SearchQuery,
  parts: readonly Part[],
  { threshold, mode, joining }: { readonly threshold: number; readonly mode: string; readonly joining: string },
): Map<FakeDocument, number> {
  const found = new Map<FakeDocument, number>();
  const words = parts.flatMap((part) => part.words);
  const phrases = parts.filter((part) => part.phrase && part.words.length > 1).map((part) => part.words);
  if (words.length === 0) return found;
  look(asked, words, phrases, found);
  if (phrases.length > 0) return found;
  if (joining === "always" || (joining === "fallback" && found.size === 0)) {
    const otherwise = splitOrJoined(asked, words);
    if (otherwise !== undefined) look(asked, otherwise, [], found);
  }
  for (const kept of shorter(words.slice(0, droppedFrom), mode)) {
    if (!asked.exhaustive && found.size >= threshold) break;
    look(asked, kept, [], found);
  }
  return found;
}

/** The query with more and more words dropped, never all. */
function shorter(words: readonly string[], mode: string): (readonly string[])[] {
  const fewer = words.slice(1).map((_, index) => index + 1);
  const fromRight = fewer.map((dropped) => words.slice(0, words.length - dropped));
  const fromLeft = fewer.map((dropped) => words.slice(dropped));
  const [kind, most = "0"] = mode.split(":");
  if (kind === "left_to_right") return [...fromLeft, ...fromRight];
  if (kind === "both_sides" && words.length <= Number(most)) {
    return fewer.flatMap((dropped) => [
      words.slice(0, words.length - dropped),
      words.slice(dropped),
      ...Array.from({ length: Math.max(0, dropped - 1) }, (_, left) =>
        words.slice(left + 1, words.length - (dropped - left - 1)),
      ),
    ]);
  }
  return [...fromRight, ...fromLeft];
}

/** "basket ball" for "basketball", and the reverse. */
function splitOrJoined({ collection, fields }: SearchQuery, words: readonly string[]): string[] | undefined {
  const known = (word: string): boolean => fields.some((field) => collection.postings(field, word) !== undefined);
  const joined = words.join("");
  if (words.length > 1 && known(joined)) return [joined];
  const split = words.map((word) => {
    for (let at = 1; at < word.length; at += 1) {
      if (known(word.slice(0, at)) && known(word.slice(at))) return [word.slice(0, at), word.slice(at)];
    }
    return [word];
  });
  return split.some((each) => each.length > 1) ? split.flat() : undefined;
}

/** One search for all of these words, which allows more and more typos until enough is found. */
function look(
  asked: SearchQuery,
  words: readonly string[],
  phrases: readonly (readonly string[])[],
  found: Map<FakeDocument, number>,
): void {
  const limit = asked.exhaustive ? many : combinationsUsual;
  const reach = words.map((word) => reachOf(asked, word));
  const combinations = Math.min(
    reach.reduce((all, most) => all * (most + 1), 1),
    limit,
  );
  const known = new Map<string, readonly string[]>();
  for (let n = 0; n < combinations; n += 1) {
    const costs = costsOf(n, reach);
    const candidates = words.map((word, index) => {
      const key = `${word} ${costs[index]}`;
      const made = known.get(key) ?? candidatesFor(asked, word, costs[index] ?? 0, index === words.length - 1);
      known.set(key, made);
      return made;
    });
    const typos = costs.reduce((sum, cost) => sum + cost, 0);
    for (const chosen of choices(candidates, limit)) {
      for (const document of documentsWith(asked, chosen)) {
        if (found.has(document) || !asked.fits(document)) continue;
        if (!phrases.every((phrase) => hasPhrase(asked, document, phrase))) continue;
        found.set(document, scoreOf(asked, document, chosen, typos));
      }
    }
    if (!asked.exhaustive && found.size >= asked.typoThreshold) return;
  }
}

/** The number of typos that a word of its length may have. */
function reachOf({ typosMax, minLengths: [one, two] }: SearchQuery, word: string): number {
  return Math.min(Math.max(...typosMax), word.length < one ? 0 : word.length < two ? 1 : 2);
}

/** The nth distribution of typos among the words; the last word gets them first. */
function costsOf(n: number, reach: readonly number[]): number[] {
  const costs: number[] = [];
  let rest = n;
  for (const most of reach.toReversed()) {
    costs.unshift(rest % (most + 1));
    rest = Math.floor(rest / (most + 1));
  }
  return costs;
}

/** Words of the collection at exactly this edit distance, the most frequent first. */
function candidatesFor(
  { collection, fields, prefix, exhaustive }: SearchQuery,
  word: string,
  cost: number,
  last: boolean,
): string[] {
  const prefixed = last && prefix.some(Boolean);
  if (cost === 0 && !prefixed) return [word];
  const counts = new Map<string, number>();
  for (const field of fields) {
    for (const other of collection.vocabulary(field)) {
      const near = cost === 0 ? other.startsWith(word) : editDistance(word, other, cost) === cost;
      if (near) counts.set(other, Math.max(counts.get(other) ?? 0, collection.postings(field, other)?.size ?? 0));
    }
  }
  const most = exhaustive ? many : candidatesUsual;
  const byFrequency = [...counts].toSorted(([left, l], [right, r]) => r - l || (left < right ? -1 : 1));
  const chosen = byFrequency.map(([other]) => other).filter((other) => other !== word);
  return (cost === 0 ? [word, ...chosen] : chosen).slice(0, most);
}

/** All combinations of one element of each list. */
function choices(candidates: readonly (readonly string[])[], limit: number): string[][] {
  let all: string[][] = [[]];
  for (const some of candidates) all = all.flatMap((begun) => some.map((each) => [...begun, each])).slice(0, limit);
  return all;
}

/** Documents that have each word in one of the fields. */
function documentsWith({ collection, fields }: SearchQuery, words: readonly string[]): FakeDocument[] {
  const sets = words.map((word) => {
    const postings = fields.flatMap((field) => collection.postings(field, word) ?? []);
    return { postings, size: postings.reduce((sum, each) => sum + each.size, 0) };
  });
  const [rarest, ...others] = sets.toSorted((left, right) => left.size - right.size);
  const begun = new Set((rarest?.postings ?? []).flatMap((each) => [...each.keys()]));
  return [...begun].filter((document) => others.every(({ postings }) => postings.some((each) => each.has(document))));
}

function hasPhrase(
  { collection, fields }: SearchQuery,
  document: FakeDocument,
  [first = "", ...others]: readonly string[],
) {
  return fields.some((field) =>
    collection
      .postings(field, first)
      ?.get(document)
      ?.some((at) =>
        others.every(
          (word, i) =>
            collection
              .postings(field, word)
              ?.get(document)
              ?.includes(at + 1 + i) === true,
        ),
      ),
  );
}

/** Scores by the best matching field: number of words, typos, proximity, completeness, then the field's weight. */
function scoreOf(
  { collection, fields, weights }: SearchQuery,
  document: FakeDocument,
  words: readonly string[],
  typos: number,
) {
  let best = 0;
  let fitting = 0;
  for (const [index, field] of fields.entries()) {
    const places = words.flatMap((word) => {
      const held = collection.postings(field, word)?.get(document);
      return held === undefined ? [] : [held];
    });
    if (places.length === 0) continue;
    fitting += 1;
    const near = 100 - Math.min(100, spread(places));
    const exact = typos === 0 && collection.lengthOf(document, field) === words.length ? 1 : 0;
    const score = (((places.length * 8 + (7 - Math.min(7, typos))) * 128 + near) * 2 + exact) * 16;
    best = Math.max(best, score + Math.min(15, weights[index] ?? 0));
  }
  return best * 16 + fitting;
}

/** The distance between the words, each at the position nearest to the first one's. */
function spread(places: readonly (readonly number[])[]): number {
  const [first = [], ...others] = places;
  if (others.length === 0) return 0;
  let least = Number.POSITIVE_INFINITY;
  for (const at of first) {
    let sum = 0;
    for (const held of others) sum += Math.min(...held.map((other) => Math.abs(other - at)));
    least = Math.min(least, sum);
  }
  return Math.max(0, least - others.length);
}

/**
 * The edit distance: letters added, left out, wrong, or swapped with their neighbour; a swap of the first two counts as
 * two. A distance above `most` is returned as some number above it.
 */
function editDistance(word: string, other: string, most: number): number {
  if (Math.abs(word.length - other.length) > most) return most + 1;
  let older: number[] = [];
  let before = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= word.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = word[row - 1] === other[column - 1];
      let typos = Math.min(
        (before[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (before[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 2 && word[row - 1] === other[column - 2] && word[row - 2] === other[column - 1];
      if (swapped) typos = Math.min(typos, (older[column - 2] ?? 0) + 1);
      current.push(typos);
    }
    if (Math.min(...current) > most) return most + 1;
    [older, before] = [before, current];
  }
  return before[other.length] ?? most + 1;
}

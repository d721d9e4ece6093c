import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Cache } from "#runtime/cache.ts";
import { createCache } from "#runtime/cache.ts";
import { canAccess } from "../access.ts";
import type { Candidate, IndexSearch, SearchResult } from "../contract.ts";
import { createVocabulary } from "#language/words/spelling.ts";
import type { Vocabulary } from "#language/words/spelling.ts";

/** The prepared statements of one workspace. `n` is its number in the file. */
export interface Tables {
  readonly n: number;
  readonly frequency: StatementSync;
  readonly size: StatementSync;
  readonly gates: StatementSync;
  /** Return rows of passages, best first. `findWithin` filters by access and by document. */
  readonly find: StatementSync;
  readonly findWithin: StatementSync;
  readonly passage: StatementSync;
  readonly words: StatementSync;
}

/** Caches over the tables of all workspaces. Must be cleared when the file changes. */
export interface ReadCaches {
  readonly totals: Cache<number, Totals>;
  /** Keys are workspace number and term. 0: no passage has the term. */
  readonly frequency: Cache<string, number>;
  /** Keys are workspace number and row. */
  readonly passages: Cache<string, Candidate>;
}

interface Totals {
  readonly chunks: number;
  readonly terms: number;
  /** The distinct audiences of documents. */
  readonly gates: readonly string[];
}

const workspacesSeenMax = 1_000;
const termsSeenMax = 20_000;
/** Room for titles, texts and terms of about a thousand passages. */
const charactersSeenMax = 2_000_000;

/** Maximum number of words in memory, over all workspaces. The least recently used workspace is evicted first. */
const cachedWordsMax = 400_000;
/** Maximum number of corrected words per question. A text with more unknown words is not misspelt. */
const repairsMax = 8;
const meantMax = 3;

export function prepareTables(database: DatabaseSync, n: number): Tables {
  return {
    n,
    frequency: database.prepare(`select doc from frequency_${n} where term = ?`),
    size: database.prepare(`select chunks, terms, epoch from size_${n}`),
    words: database.prepare(`select row, word, term from words_${n} where row > ? order by row`),
    gates: database.prepare(`select distinct audience from documents_${n}`),
    find: database.prepare(`
      select rowid as row from terms_${n} where terms_${n} match :match
      order by bm25(terms_${n}, 2.0, 1.0), rowid limit :limit`),
    findWithin: database.prepare(`
      select rowid as row from terms_${n} where terms_${n} match :match
        and (:gates is null or (select document_id from chunks_${n} c where c.row = terms_${n}.rowid)
          in (select id from documents_${n} where audience in (select value from json_each(:gates))))
        and (:documents is null or (select document_id from chunks_${n} c where c.row = terms_${n}.rowid)
          in (select value from json_each(:documents)))
      order by bm25(terms_${n}, 2.0, 1.0), rowid limit :limit`),
    passage: database.prepare(`
      select c.id as chunkId, c.document_id as documentId, c.position, c.title, c.text, c.url,
        t.title as titleTerms, t.body as bodyTerms
      from chunks_${n} c join terms_${n} t on t.rowid = c.row where c.row = ?`),
  };
}

export function createReadCaches(): ReadCaches {
  return {
    totals: createCache(workspacesSeenMax),
    frequency: createCache(termsSeenMax),
    passages: createCache(charactersSeenMax),
  };
}

/** The vocabularies of the most recently used workspaces. Reads the changes of other processes with each call. */
export function createVocabularyCache(): { of(tables: Tables): Vocabulary } {
  // Keys are workspace numbers, which are never reused. Most recently used last.
  const cached = new Map<number, { readonly epoch: number; row: number; readonly vocabulary: Vocabulary }>();
  return {
    of(tables) {
      const { epoch } = tables.size.get() as { epoch: number };
      const previous = cached.get(tables.n);
      const entry = previous?.epoch === epoch ? previous : { epoch, row: 0, vocabulary: createVocabulary() };
      const added = tables.words.all(entry.row) as { row: number; word: string; term: string }[];
      for (const { row, word, term } of added) {
        entry.vocabulary.add(word, term);
        entry.row = row;
      }
      cached.delete(tables.n);
      cached.set(tables.n, entry);
      let sum = [...cached.values()].reduce((all, each) => all + each.vocabulary.size, 0);
      for (const [n, { vocabulary }] of cached) {
        if (sum <= cachedWordsMax || n === tables.n) break;
        cached.delete(n);
        sum -= vocabulary.size;
      }
      return entry.vocabulary;
    },
  };
}

export function searchTables(
  tables: Tables,
  request: IndexSearch,
  seen: ReadCaches,
  vocabularyOf: () => Vocabulary,
): SearchResult {
  const { chunks, terms, gates } = totalsOf(tables, seen);
  const frequency = new Map<string, number>();
  const isKnown = (term: string): boolean => {
    if (frequency.has(term)) return true;
    const count = frequencyOf(tables, term, seen);
    if (count > 0) frequency.set(term, count);
    return count > 0;
  };
  const knownTerms = request.terms.filter((term) => isKnown(term));
  const repaired = new Map<string, readonly string[]>();
  const unknown = (request.misspelt ?? []).filter(({ term }) => !isKnown(term)).slice(0, repairsMax);
  const vocabulary = unknown.length === 0 ? undefined : vocabularyOf();
  for (const { word, term } of unknown) {
    const near = (vocabulary?.near(word) ?? []).filter((each) => isKnown(each));
    const meant = near
      .toSorted((left, right) => (frequency.get(right) ?? 0) - (frequency.get(left) ?? 0) || (left < right ? -1 : 1))
      .slice(0, meantMax);
    if (meant.length > 0) repaired.set(term, meant);
  }
  const repairs = repaired.size === 0 ? {} : { repaired };
  const searched = [...new Set([...knownTerms, ...[...repaired.values()].flat()])];
  const base = { chunkCount: chunks, averageTerms: chunks === 0 ? 0 : terms / chunks, frequency, ...repairs };
  if (searched.length === 0) return { ...base, candidates: [] };
  const open = gates.filter((audience) => canAccess(audience, request.audience));
  const wanted = { match: matchOf(searched, frequency), limit: request.limit };
  const rows =
    open.length === gates.length && request.documentIds === undefined
      ? tables.find.all(wanted)
      : tables.findWithin.all({
          ...wanted,
          gates: open.length === gates.length ? null : JSON.stringify(open),
          documents: request.documentIds === undefined ? null : JSON.stringify(request.documentIds),
        });
  return { ...base, candidates: rows.flatMap(({ row }) => passageOf(tables, Number(row), seen) ?? []) };
}

function totalsOf({ n, size, gates }: Tables, { totals }: ReadCaches): Totals {
  const known = totals.get(n);
  if (known !== undefined) return known;
  const { chunks, terms } = size.get() as { chunks: number; terms: number };
  const made = { chunks, terms, gates: (gates.all() as { audience: string }[]).map((row) => row.audience) };
  totals.set(n, made, 1);
  return made;
}

function frequencyOf({ n, frequency }: Tables, term: string, seen: ReadCaches): number {
  const key = `${n} ${term}`;
  const known = seen.frequency.get(key);
  if (known !== undefined) return known;
  const count = (frequency.get(term) as { doc: number } | undefined)?.doc ?? 0;
  seen.frequency.set(key, count, 1);
  return count;
}

function passageOf({ n, passage }: Tables, row: number, { passages }: ReadCaches): Candidate | undefined {
  const key = `${n} ${row}`;
  const known = passages.get(key);
  if (known !== undefined) return known;
  const stored = passage.get(row) as PassageRow | undefined;
  if (stored === undefined) return undefined;
  const { titleTerms, bodyTerms, ...found } = stored;
  const made = { ...found, titleTerms: split(titleTerms), bodyTerms: split(bodyTerms) };
  passages.set(key, made, titleTerms.length + bodyTerms.length + found.title.length + found.text.length);
  return made;
}

/** Maximum number of passages scored per question, unless the two rarest words alone have more. */
const weighedMax = 10_000;

/**
 * Builds the FTS expression. Any word matches, unless that would score too many passages: then one of the rarer words is
 * required, and the others only raise the score. Scoring a passage costs more than finding it.
 */
function matchOf(terms: readonly string[], frequency: ReadonlyMap<string, number>): string {
  const of = (term: string): number => frequency.get(term) ?? 0;
  const any = (some: readonly string[]): string => some.map((term) => `"${term}"`).join(" OR ");
  const byRarity = terms.toSorted((left, right) => of(left) - of(right));
  let passages = 0;
  const rare = byRarity.filter((term, index) => {
    passages += of(term);
    return index < 2 || passages <= weighedMax;
  });
  if (rare.length === terms.length) return any(terms);
  const others = byRarity.slice(rare.length);
  return `(${any(rare)}) OR ((${any(rare)}) AND (${any(others)}))`;
}

type PassageRow = Omit<Candidate, "titleTerms" | "bodyTerms"> & {
  readonly titleTerms: string;
  readonly bodyTerms: string;
};

const split = (terms: string): string[] => (terms === "" ? [] : terms.split(" "));

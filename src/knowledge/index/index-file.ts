import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import type { Recent } from "#answering/remembered.ts";
import { createRecent } from "#answering/remembered.ts";
import type { Word } from "#answering/terms.ts";
import { mayEnter } from "./audience-gate.ts";
import type { Candidate, IndexSearch, SearchResult } from "./index-port.ts";
import { withWords } from "./passage-words.ts";
import { createVocabulary, isSpelt, partMin } from "../spelling.ts";
import type { Vocabulary } from "../spelling.ts";

/** Raise it when terms are made or stored in another way: older files are then rebuilt. */
const format = 7;

/** What the index says of a document: another text of it means that it changed. */
export interface IndexedDocument {
  readonly id: string;
  readonly version: number;
  readonly audience: string;
}

export type Gate = Pick<IndexedDocument, "id" | "audience">;

export interface DocumentChange extends IndexedDocument {
  readonly chunks: readonly {
    readonly id: string;
    readonly position: number;
    readonly title: string;
    readonly text: string;
    readonly url: string | null;
  }[];
}

/** The file, worked on where the caller is: every call takes the thread that makes it. */
export interface IndexFile {
  version(workspaceId: string): number | undefined;
  /** Passages of the workspace. */
  chunkCount(workspaceId: string): number;
  /** In the order of their ids, from the one after `after`. */
  documents(workspaceId: string, after: string, limit: number): IndexedDocument[];
  /**
   * The first step of bringing the workspace up to `view`, a version of its knowledge base: from here on what is gone is
   * not found, and who may see what holds, while the texts are replaced one by one. Of several processes at it, only
   * the steps of the newest view are done; the others are refused, which this and the next two tell by false.
   */
  begin(workspaceId: string, view: number, gone: readonly string[], audiences: readonly Gate[]): boolean;
  /** Puts new texts in the place of old ones, each document at once: it is found by the one or the other. */
  replace(workspaceId: string, view: number, changes: readonly DocumentChange[]): boolean;
  finish(workspaceId: string, view: number): boolean;
  drop(workspaceId: string): void;
  search(request: IndexSearch): SearchResult;
  close(): void;
}

/** The tables of one workspace; `n` is its number in the file. */
interface Tables {
  readonly n: number;
  readonly frequency: StatementSync;
  readonly size: StatementSync;
  readonly gates: StatementSync;
  /** Gives the rows of passages, the best first; the second only those that may be seen, of some documents. */
  readonly find: StatementSync;
  readonly findWithin: StatementSync;
  readonly passage: StatementSync;
  readonly words: StatementSync;
}

/** What was read of the tables of all workspaces, and holds until something is written into the file. */
interface Seen {
  readonly totals: Recent<number, Totals>;
  /** By the workspace's number and a term; 0: no passage has it. */
  readonly frequency: Recent<string, number>;
  /** By the workspace's number and a row. */
  readonly passages: Recent<string, Candidate>;
}

interface Totals {
  readonly chunks: number;
  readonly terms: number;
  /** Every different audience of a document. */
  readonly gates: readonly string[];
}

const workspacesSeenMax = 1_000;
const termsSeenMax = 20_000;
/** Of titles, texts and terms of a thousand passages and more: the ones that most questions are about. */
const charactersSeenMax = 2_000_000;

/** Words that are held in memory, over all workspaces; those of the workspace that was asked least recently go first. */
const wordsHeldMax = 400_000;
/** Of one workspace. Beyond it are codes and names of files, and the first words are the common ones. */
const wordsMax = 200_000;
/** More words that nothing has are not a slip of the finger. */
const repairsMax = 8;
const meantMax = 3;

export function openIndexFile(path: string): IndexFile {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  try {
    database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory");
    prepareFile(database);
  } catch (error) {
    database.close();
    throw error;
  }
  const opened = new Map<string, Tables>();
  const vocabularies = createHeldWords();
  const numberOf = database.prepare("select n, version, seen from workspaces where id = ?");
  const begin = { immediate: database.prepare("begin immediate"), deferred: database.prepare("begin deferred") };
  const commit = database.prepare("commit");

  function inTransaction<T>(kind: keyof typeof begin, work: () => T): T {
    begin[kind].run();
    try {
      const value = work();
      commit.run();
      return value;
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  }

  /** Another one after whatever another connection has written; what is written here is told to `forget`. */
  const dataVersion = database.prepare("pragma data_version");
  const held: Seen = {
    totals: createRecent(workspacesSeenMax),
    frequency: createRecent(termsSeenMax),
    passages: createRecent(charactersSeenMax),
  };
  let heldVersion: unknown;
  function forget(): void {
    for (const each of Object.values(held)) each.clear();
  }

  /** What holds for the transaction in hand. */
  function seen(): Seen {
    const version = dataVersion.get()?.["data_version"];
    if (version !== heldVersion) forget();
    heldVersion = version;
    return held;
  }

  function rowOf(
    workspaceId: string,
  ): { readonly n: number; readonly version: number; readonly seen: number } | undefined {
    return numberOf.get(workspaceId) as { n: number; version: number; seen: number } | undefined;
  }

  function create(workspaceId: string): number {
    const found = rowOf(workspaceId);
    if (found !== undefined) return found.n;
    const n = Number(
      database.prepare("insert into workspaces (id, version, seen) values (?, -1, -1)").run(workspaceId)
        .lastInsertRowid,
    );
    // Terms come stemmed; the tokenizer only has to leave them alone.
    database.exec(`
      create table documents_${n} (id text primary key, version integer not null, audience text not null) without rowid;
      create table chunks_${n} (row integer primary key, id text not null, document_id text not null, position integer not null,
        title text not null, text text not null, url text, terms integer not null);
      create index chunks_document_${n} on chunks_${n} (document_id);
      create virtual table terms_${n} using fts5(title, body, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'");
      create virtual table frequency_${n} using fts5vocab(terms_${n}, row);
      create table size_${n} (chunks integer not null, terms integer not null, epoch integer not null);
      insert into size_${n} values (0, 0, 0);
      create table words_${n} (row integer primary key, word text not null unique, term text not null);
    `);
    return n;
  }

  function tablesOf(workspaceId: string): Tables | undefined {
    const row = rowOf(workspaceId);
    if (row === undefined) return undefined;
    const known = opened.get(workspaceId);
    if (known?.n === row.n) return known;
    const { n } = row;
    const tables: Tables = {
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
    opened.set(workspaceId, tables);
    return tables;
  }

  /** Another process has written it meanwhile, or come further since this one read the store. */
  function isIndexed(workspaceId: string, { id, version, audience }: IndexedDocument): boolean {
    const row = rowOf(workspaceId);
    if (row === undefined) return false;
    const known = database.prepare(`select version, audience from documents_${row.n} where id = ?`).get(id) as
      | { version: number; audience: string }
      | undefined;
    return (
      known !== undefined && (known.version > version || (known.version === version && known.audience === audience))
    );
  }

  function removeDocument(n: number, id: string): void {
    database
      .prepare(`delete from terms_${n} where rowid in (select row from chunks_${n} where document_id = ?)`)
      .run(id);
    database
      .prepare(`update size_${n} set chunks = chunks - (select count(*) from chunks_${n} where document_id = :id),
        terms = terms - (select coalesce(sum(terms), 0) from chunks_${n} where document_id = :id)`)
      .run({ id });
    database.prepare(`delete from chunks_${n} where document_id = ?`).run(id);
    database.prepare(`delete from documents_${n} where id = ?`).run(id);
  }

  /** Runs a step of bringing the workspace up to `view`, unless a newer one has been seen. */
  function step(workspaceId: string, view: number, work: (n: number) => void): boolean {
    forget();
    return inTransaction("immediate", () => {
      const n = create(workspaceId);
      if ((rowOf(workspaceId)?.seen ?? -1) > view) return false;
      work(n);
      return true;
    });
  }

  return {
    version: (workspaceId) => rowOf(workspaceId)?.version,
    chunkCount(workspaceId) {
      const tables = tablesOf(workspaceId);
      return tables === undefined ? 0 : (tables.size.get() as { chunks: number }).chunks;
    },
    documents(workspaceId, after, limit) {
      const row = rowOf(workspaceId);
      if (row === undefined) return [];
      return database
        .prepare(`select id, version, audience from documents_${row.n} where id > ? order by id limit ?`)
        .all(after, limit) as unknown as IndexedDocument[];
    },
    begin(workspaceId, view, gone, audiences) {
      return step(workspaceId, view, (n) => {
        database.prepare("update workspaces set seen = ? where id = ?").run(view, workspaceId);
        const setAudience = database.prepare(`update documents_${n} set audience = ? where id = ?`);
        for (const { id, audience } of audiences) setAudience.run(audience, id);
        for (const id of gone) removeDocument(n, id);
        if (gone.length === 0) return;
        // Words that were in the removed documents alone are nothing that anybody meant.
        const { changes } = database
          .prepare(`delete from words_${n} where term not in (select term from frequency_${n})`)
          .run();
        if (Number(changes) > 0) database.prepare(`update size_${n} set epoch = epoch + 1`).run();
      });
    },
    replace(workspaceId, view, changes) {
      const fresh = changes.filter((change) => !isIndexed(workspaceId, change));
      const prepared = fresh.map((change) => ({ ...change, chunks: withWords(change.chunks) }));
      return step(workspaceId, view, (n) => {
        const tables = tablesOf(workspaceId);
        if (tables === undefined) throw new Error("the tables of a workspace are gone within one transaction");
        const vocabulary = vocabularies.of(tables);
        const insertWord = database.prepare(`insert or ignore into words_${n} (word, term) values (?, ?)`);
        let room = wordsMax - vocabulary.size;
        const added = new Set<string>();
        for (const change of prepared) {
          if (isIndexed(workspaceId, change)) continue;
          const { id, version, audience, chunks } = change;
          removeDocument(n, id);
          database.prepare(`insert into documents_${n} values (?, ?, ?)`).run(id, version, audience);
          const insertChunk = database.prepare(
            `insert into chunks_${n} (id, document_id, position, title, text, url, terms) values (?, ?, ?, ?, ?, ?, ?)`,
          );
          const insertTerms = database.prepare(`insert into terms_${n} (rowid, title, body) values (?, ?, ?)`);
          let terms = 0;
          for (const chunk of chunks) {
            const words = [...chunk.titleWords, ...chunk.bodyWords];
            const count = words.length;
            const { lastInsertRowid } = insertChunk.run(
              chunk.id,
              id,
              chunk.position,
              chunk.title,
              chunk.text,
              chunk.url,
              count,
            );
            const joined = (of: readonly Word[]): string => of.map(({ term }) => term).join(" ");
            insertTerms.run(lastInsertRowid, joined(chunk.titleWords), joined(chunk.bodyWords));
            for (const { word, term } of words) {
              if (room <= 0 || added.has(word) || vocabulary.has(word) || !isSpelt(word, partMin)) continue;
              insertWord.run(word, term);
              added.add(word);
              room -= 1;
            }
            terms += count;
          }
          database.prepare(`update size_${n} set chunks = chunks + ?, terms = terms + ?`).run(chunks.length, terms);
        }
      });
    },
    finish(workspaceId, view) {
      return step(workspaceId, view, () => {
        database.prepare("update workspaces set version = ? where id = ?").run(view, workspaceId);
      });
    },
    drop(workspaceId) {
      if (rowOf(workspaceId) === undefined) return;
      opened.delete(workspaceId);
      forget();
      inTransaction("immediate", () => {
        const row = rowOf(workspaceId);
        if (row === undefined) return;
        for (const table of ["frequency", "terms", "chunks", "documents", "size", "words"])
          database.exec(`drop table ${table}_${row.n}`);
        database.prepare("delete from workspaces where id = ?").run(workspaceId);
      });
    },
    search(request) {
      // One view of the file: another process may be changing it.
      return inTransaction("deferred", () => {
        const tables = tablesOf(request.workspaceId);
        if (tables === undefined) return { candidates: [], chunkCount: 0, averageTerms: 0, frequency: new Map() };
        return searchTables(tables, request, seen(), () => vocabularies.of(tables));
      });
    },
    close() {
      database.close();
    },
  };
}

/** Makes the tables that tell what is in the file; a file of another format is emptied first. */
function prepareFile(database: DatabaseSync): void {
  database.exec("begin immediate");
  const { user_version: found } = database.prepare("pragma user_version").get() as {
    user_version: number;
  };
  if (found !== format) {
    const tables = database
      .prepare("select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
      .all() as { name: string; sql: string }[];
    // Virtual tables first: they take their shadow tables with them.
    const virtual = tables.filter((table) => /^create virtual/i.test(table.sql));
    for (const table of virtual.filter((each) => each.sql.includes("fts5vocab")))
      database.exec(`drop table "${table.name}"`);
    for (const table of virtual.filter((each) => !each.sql.includes("fts5vocab")))
      database.exec(`drop table "${table.name}"`);
    for (const table of tables) database.exec(`drop table if exists "${table.name}"`);
    database.exec(
      `create table workspaces (n integer primary key autoincrement, id text not null unique, version integer not null, seen integer not null)`,
    );
    database.exec(`pragma user_version = ${format}`);
  }
  database.exec("commit");
}

/** The words of the workspaces that were asked last. What another process adds or removes is seen at the next look. */
function createHeldWords(): { of(tables: Tables): Vocabulary } {
  // By the number in the file, which is never used again; the one used last is at the end.
  const held = new Map<number, { readonly epoch: number; row: number; readonly vocabulary: Vocabulary }>();
  return {
    of(tables) {
      const { epoch } = tables.size.get() as { epoch: number };
      const known = held.get(tables.n);
      const entry = known?.epoch === epoch ? known : { epoch, row: 0, vocabulary: createVocabulary() };
      const added = tables.words.all(entry.row) as { row: number; word: string; term: string }[];
      for (const { row, word, term } of added) {
        entry.vocabulary.add(word, term);
        entry.row = row;
      }
      held.delete(tables.n);
      held.set(tables.n, entry);
      let sum = [...held.values()].reduce((all, each) => all + each.vocabulary.size, 0);
      for (const [n, { vocabulary }] of held) {
        if (sum <= wordsHeldMax || n === tables.n) break;
        held.delete(n);
        sum -= vocabulary.size;
      }
      return entry.vocabulary;
    },
  };
}

function searchTables(tables: Tables, request: IndexSearch, seen: Seen, vocabularyOf: () => Vocabulary): SearchResult {
  const { chunks, terms, gates } = totalsOf(tables, seen);
  const frequency = new Map<string, number>();
  const isKnown = (term: string): boolean => {
    if (frequency.has(term)) return true;
    const count = frequencyOf(tables, term, seen);
    if (count > 0) frequency.set(term, count);
    return count > 0;
  };
  const asked = request.terms.filter((term) => isKnown(term));
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
  const known = [...new Set([...asked, ...[...repaired.values()].flat()])];
  const base = { chunkCount: chunks, averageTerms: chunks === 0 ? 0 : terms / chunks, frequency, ...repairs };
  if (known.length === 0) return { ...base, candidates: [] };
  const open = gates.filter((audience) => mayEnter(audience, request.audience));
  const wanted = { match: matchOf(known, frequency), limit: request.limit };
  const rows =
    open.length === gates.length && request.documentIds === undefined
      ? tables.find.all(wanted)
      : tables.findWithin.all({
          ...wanted,
          gates: open.length === gates.length ? null : JSON.stringify(open),
          documents: request.documentIds === undefined ? null : JSON.stringify(request.documentIds),
        });
  return { ...base, candidates: rows.map(({ row }) => passageOf(tables, Number(row), seen)) };
}

function totalsOf({ n, size, gates }: Tables, { totals }: Seen): Totals {
  const known = totals.get(n);
  if (known !== undefined) return known;
  const { chunks, terms } = size.get() as { chunks: number; terms: number };
  const made = { chunks, terms, gates: (gates.all() as { audience: string }[]).map((row) => row.audience) };
  totals.set(n, made, 1);
  return made;
}

function frequencyOf({ n, frequency }: Tables, term: string, seen: Seen): number {
  const key = `${n} ${term}`;
  const known = seen.frequency.get(key);
  if (known !== undefined) return known;
  const count = (frequency.get(term) as { doc: number } | undefined)?.doc ?? 0;
  seen.frequency.set(key, count, 1);
  return count;
}

function passageOf({ n, passage }: Tables, row: number, { passages }: Seen): Candidate {
  const key = `${n} ${row}`;
  const known = passages.get(key);
  if (known !== undefined) return known;
  const { titleTerms, bodyTerms, ...found } = passage.get(row) as unknown as PassageRow;
  const made = { ...found, titleTerms: split(titleTerms), bodyTerms: split(bodyTerms) };
  passages.set(key, made, titleTerms.length + bodyTerms.length + found.title.length + found.text.length);
  return made;
}

/** So many passages are weighed for one question, or those with the two rarest words. */
const weighedMax = 10_000;

/**
 * Any of the words will do; but where they are in very many passages, it has to be one of the rarer ones, and the others
 * only add to it. To weigh a passage costs more than to find it.
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

function errorCode(error: unknown): number {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : 0;
}

/** SQLITE_CORRUPT, SQLITE_NOTADB; and SQLITE_ERROR where a table is missing. */
export function isDamage(error: unknown): boolean {
  const code = errorCode(error);
  return (
    code === 11 ||
    code === 26 ||
    (code === 1 && /no such (?:fts5 )?table|vtable constructor failed/.test(String(error)))
  );
}

/** SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR: another time it may work. */
export function isBusy(error: unknown): boolean {
  return [5, 6, 10, 13].includes(errorCode(error));
}

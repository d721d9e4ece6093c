import { DatabaseSync } from "node:sqlite";
import type { Word } from "#language/terms.ts";
import type { IndexSearch, SearchResult } from "./contract.ts";
import type { ReadCaches, Tables } from "./index-search.ts";
import { createVocabularyCache, createReadCaches, prepareTables, searchTables } from "./index-search.ts";
import { withWords } from "./passage-words.ts";
import { isSpelt, partMin } from "#language/spelling.ts";

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

/** Of one workspace. Beyond it are codes and names of files, and the first words are the common ones. */
const wordsMax = 200_000;

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
  const vocabularies = createVocabularyCache();
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
  const held = createReadCaches();
  let heldVersion: unknown;
  function forget(): void {
    held.totals.clear();
    held.frequency.clear();
    held.passages.clear();
  }

  /** What holds for the transaction in hand. */
  function seen(): ReadCaches {
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
    const tables = prepareTables(database, row.n);
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

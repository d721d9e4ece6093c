import { DatabaseSync } from "node:sqlite";
import type { IndexSearch, SearchResult } from "../contract.ts";
import { withWords } from "../passage-words.ts";
import { createTables, dropTables, prepareFile } from "./file-schema.ts";
import type { ReadCaches, Tables } from "./index-search.ts";
import { createReadCaches, createVocabularyCache, prepareTables, searchTables } from "./index-search.ts";
import type { DocumentChange, IndexedDocument } from "./write-documents.ts";
import { createDocumentWriter, removeDocument, removeUnusedWords } from "./write-documents.ts";

type Gate = Pick<IndexedDocument, "id" | "audience">;

/** The index file. Every call runs synchronously on the calling thread. */
export interface IndexFile {
  version(workspaceId: string): number | undefined;
  /** Number of passages of the workspace. */
  chunkCount(workspaceId: string): number;
  /** Documents in the order of their ids, starting after `after`. */
  documents(workspaceId: string, after: string, limit: number): IndexedDocument[];
  /**
   * The first step of a refresh to `view`, a version of the knowledge base: removes documents and applies audiences; the
   * texts are replaced afterwards. When several processes refresh the file, only the steps of the newest view run. This
   * and the next two return false for an older view.
   */
  begin(workspaceId: string, view: number, gone: readonly string[], audiences: readonly Gate[]): boolean;
  /** Replaces the texts of documents, each at once: a search finds either the old text or the new one. */
  replace(workspaceId: string, view: number, changes: readonly DocumentChange[]): boolean;
  finish(workspaceId: string, view: number): boolean;
  drop(workspaceId: string): void;
  search(request: IndexSearch): SearchResult;
  close(): void;
}

interface WorkspaceRow {
  readonly n: number;
  readonly version: number;
  /** The newest view that a refresh has begun. */
  readonly seen: number;
}

export function openIndexFile(path: string): IndexFile {
  const database = openDatabase(path);
  const caches = createFileCaches(database);
  const { rowOf, numberOf, tablesOf, forget } = createWorkspaceTables(database);
  const inTransaction = createTransactions(database);
  const vocabularies = createVocabularyCache();

  /** Whether the file has this version or, written by another process, a later one. */
  function isIndexed(workspaceId: string, { id, version, audience }: IndexedDocument): boolean {
    const row = rowOf(workspaceId);
    if (row === undefined) return false;
    const indexed = database.prepare(`select version, audience from documents_${row.n} where id = ?`).get(id) as
      | { version: number; audience: string }
      | undefined;
    if (indexed === undefined) return false;
    return indexed.version > version || (indexed.version === version && indexed.audience === audience);
  }

  /** Runs a step of the refresh to `view`, unless another process has begun one to a newer view. */
  function step(workspaceId: string, view: number, work: (n: number) => void): boolean {
    caches.clear();
    return inTransaction("immediate", () => {
      const n = numberOf(workspaceId);
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
    begin: (workspaceId, view, gone, audiences) =>
      step(workspaceId, view, (n) => {
        database.prepare("update workspaces set seen = ? where id = ?").run(view, workspaceId);
        const setAudience = database.prepare(`update documents_${n} set audience = ? where id = ?`);
        for (const { id, audience } of audiences) setAudience.run(audience, id);
        for (const id of gone) removeDocument(database, n, id);
        if (gone.length > 0) removeUnusedWords(database, n);
      }),
    replace(workspaceId, view, changes) {
      // Words are made outside of the transaction, which locks the file for other processes.
      const prepared = changes
        .filter((change) => !isIndexed(workspaceId, change))
        .map((change) => ({ ...change, chunks: withWords(change.chunks) }));
      return step(workspaceId, view, (n) => {
        const tables = tablesOf(workspaceId);
        if (tables === undefined) throw new Error("the tables of a workspace disappeared within one transaction");
        const writer = createDocumentWriter(database, n, vocabularies.of(tables));
        for (const change of prepared) if (!isIndexed(workspaceId, change)) writer.replace(change);
      });
    },
    finish: (workspaceId, view) =>
      step(workspaceId, view, () => {
        database.prepare("update workspaces set version = ? where id = ?").run(view, workspaceId);
      }),
    drop(workspaceId) {
      if (rowOf(workspaceId) === undefined) return;
      forget(workspaceId);
      caches.clear();
      inTransaction("immediate", () => {
        const row = rowOf(workspaceId);
        if (row === undefined) return;
        dropTables(database, row.n);
        database.prepare("delete from workspaces where id = ?").run(workspaceId);
      });
    },
    // In one transaction, since another process may be writing the file.
    search: (request) =>
      inTransaction("deferred", () => {
        const tables = tablesOf(request.workspaceId);
        if (tables === undefined) return { candidates: [], chunkCount: 0, averageTerms: 0, frequency: new Map() };
        return searchTables(tables, request, caches.current(), () => vocabularies.of(tables));
      }),
    close: () => database.close(),
  };
}

/** Runs work in a transaction; immediate ones lock the file for writing. */
function createTransactions(database: DatabaseSync) {
  const begin = { immediate: database.prepare("begin immediate"), deferred: database.prepare("begin deferred") };
  const commit = database.prepare("commit");

  return function inTransaction<T>(kind: keyof typeof begin, work: () => T): T {
    begin[kind].run();
    try {
      const value = work();
      commit.run();
      return value;
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  };
}

/** The rows and tables of workspaces. */
function createWorkspaceTables(database: DatabaseSync) {
  const opened = new Map<string, Tables>();
  const selectRow = database.prepare("select n, version, seen from workspaces where id = ?");

  const rowOf = (workspaceId: string): WorkspaceRow | undefined =>
    selectRow.get(workspaceId) as WorkspaceRow | undefined;

  function numberOf(workspaceId: string): number {
    const row = rowOf(workspaceId);
    if (row !== undefined) return row.n;
    const insert = database.prepare("insert into workspaces (id, version, seen) values (?, -1, -1)");
    const n = Number(insert.run(workspaceId).lastInsertRowid);
    createTables(database, n);
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

  return { rowOf, numberOf, tablesOf, forget: (workspaceId: string) => void opened.delete(workspaceId) };
}

function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  try {
    database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory");
    prepareFile(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Caches that are cleared when another connection has written the file. Own writes must call `clear`. */
function createFileCaches(database: DatabaseSync): { current(): ReadCaches; clear(): void } {
  const dataVersion = database.prepare("pragma data_version");
  const caches = createReadCaches();
  let cachedVersion: unknown;
  const clear = (): void => {
    caches.totals.clear();
    caches.frequency.clear();
    caches.passages.clear();
  };
  return {
    clear,
    current() {
      const version = dataVersion.get()?.["data_version"];
      if (version !== cachedVersion) clear();
      cachedVersion = version;
      return caches;
    },
  };
}

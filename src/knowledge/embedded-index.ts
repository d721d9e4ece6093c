import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { Problem } from "#domain/problem.ts";
import type { Log, Store } from "#engine/ports.ts";
import { mayEnter } from "./audience-gate.ts";
import type { Candidate, KnowledgeIndex, SearchRequest, SearchResult } from "./index-port.ts";
import type { PassageTerms } from "./passage-terms.ts";
import { termsOfPassages } from "./passage-terms.ts";

/** Raise it when terms are made or stored in another way: older files are then rebuilt. */
const format = 1;
const fetchedDocumentsMax = 50;
const noTerms: PassageTerms = { titleTerms: [], bodyTerms: [] };

export interface EmbeddedIndexOptions {
  readonly store: Pick<Store, "read">;
  /** A file of its own, or `:memory:`. It holds nothing that cannot be made again from the store. */
  readonly path: string;
  readonly log: Log;
}

/** What the index says of a document: another text of it means that it changed. */
interface IndexedDocument {
  readonly id: string;
  readonly version: number;
  readonly audience: string;
}

interface DocumentChange extends IndexedDocument {
  readonly chunks: readonly {
    readonly id: string;
    readonly position: number;
    readonly title: string;
    readonly text: string;
    readonly url: string | null;
  }[];
}

/**
 * Full text search in an SQLite file beside the database. Each workspace has tables of its own, so how rare a word is
 * counts within the workspace alone. Before each search the index compares one number with the store and catches up
 * with what changed, in whichever process; several processes can share the file. A damaged file is made anew.
 */
export function openEmbeddedIndex(options: EmbeddedIndexOptions): KnowledgeIndex {
  const { store, path, log } = options;
  let file = openRepaired(path, log);
  /** One catch-up at a time in this process: the second to come waits and finds nothing left to do. */
  const catchingUp = new Map<string, Promise<void>>();
  let closed = false;

  function repaired<T>(work: (current: IndexFile) => T): T {
    try {
      return work(file);
    } catch (error) {
      if (!isDamage(error)) throw error;
      log.warn({ err: error, path }, "the search index is damaged and is made anew");
      file.close();
      removeFile(path);
      file = openRepaired(path, log);
      throw new StaleIndex("the index was made anew", { cause: error });
    }
  }

  async function catchUp(workspaceId: string): Promise<void> {
    const workspace = await store.read
      .selectFrom("workspaces")
      .select("knowledge_version")
      .where("id", "=", workspaceId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (workspace === undefined) {
      repaired((current) => current.drop(workspaceId));
      return;
    }
    const known = repaired((current) => current.version(workspaceId));
    if (known === workspace.knowledge_version) return;
    const running = catchingUp.get(workspaceId);
    if (running !== undefined) {
      await running;
      return catchUp(workspaceId);
    }
    const work = replaceChanged(workspaceId, workspace.knowledge_version);
    catchingUp.set(workspaceId, work);
    try {
      await work;
    } finally {
      catchingUp.delete(workspaceId);
    }
  }

  async function replaceChanged(workspaceId: string, version: number): Promise<void> {
    const wanted: IndexedDocument[] = await store.read
      .selectFrom("documents")
      .select(["id", "indexed_version as version", "audience"])
      .where("workspace_id", "=", workspaceId)
      .where("indexed_version", ">", 0)
      .execute();
    const have = new Map(repaired((current) => current.documents(workspaceId)).map((each) => [each.id, each]));
    const changed = wanted.filter((each) => {
      const old = have.get(each.id);
      return old?.version !== each.version || old.audience !== each.audience;
    });
    const present = new Set(wanted.map((each) => each.id));
    const gone = [...have.keys()].filter((id) => !present.has(id));
    // In several transactions, so that no other process waits long for a large knowledge base; the version is noted
    // with the last, so what is cut short is taken up again.
    for (let start = 0; start < changed.length; start += fetchedDocumentsMax) {
      const changes = await withChunks(changed.slice(start, start + fetchedDocumentsMax));
      repaired((current) => current.replace(workspaceId, changes));
    }
    repaired((current) => current.finish(workspaceId, gone, version));
  }

  async function withChunks(documents: readonly IndexedDocument[]): Promise<DocumentChange[]> {
    const rows = await store.read
      .selectFrom("chunks")
      .select(["id", "document_id", "version", "position", "title", "text", "url"])
      .where(
        "document_id",
        "in",
        documents.map((each) => each.id),
      )
      .execute();
    // Another process can have replaced the chunks since the documents were read: then this version has none, and
    // the workspace's version, which has risen with it, brings the next search here again.
    return documents.map((document) => ({
      ...document,
      chunks: rows.filter((row) => row.document_id === document.id && row.version === document.version),
    }));
  }

  async function search(request: SearchRequest): Promise<SearchResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await catchUp(request.workspaceId);
        return repaired((current) => current.search(request));
      } catch (error) {
        if (error instanceof StaleIndex && attempt < 3) continue;
        if (error instanceof StaleIndex || isBusy(error)) {
          throw new Problem("search_unavailable", "The search index cannot be read now.", {
            cause: error,
          });
        }
        throw error;
      }
    }
  }

  return {
    search,
    async drop(workspaceId) {
      try {
        repaired((current) => current.drop(workspaceId));
      } catch (error) {
        // A file that was made anew holds nothing of it.
        if (!(error instanceof StaleIndex)) throw error;
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.allSettled(catchingUp.values());
      file.close();
    },
  };
}

/** The file was replaced under the work in hand, which starts over. */
class StaleIndex extends Error {}

function errorCode(error: unknown): number {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : 0;
}

/** SQLITE_CORRUPT, SQLITE_NOTADB; and SQLITE_ERROR where a table is missing. */
function isDamage(error: unknown): boolean {
  const code = errorCode(error);
  return (
    code === 11 ||
    code === 26 ||
    (code === 1 && /no such (?:fts5 )?table|vtable constructor failed/.test(String(error)))
  );
}

/** SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR: another time it may work. */
function isBusy(error: unknown): boolean {
  return [5, 6, 10, 13].includes(errorCode(error));
}

function removeFile(path: string): void {
  if (path !== ":memory:") for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}

function openRepaired(path: string, log: Log): IndexFile {
  try {
    return openFile(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    log.warn({ err: error, path }, "the search index cannot be opened and is made anew");
    removeFile(path);
    return openFile(path);
  }
}

interface IndexFile {
  version(workspaceId: string): number | undefined;
  documents(workspaceId: string): IndexedDocument[];
  replace(workspaceId: string, changes: readonly DocumentChange[]): void;
  finish(workspaceId: string, gone: readonly string[], version: number): void;
  drop(workspaceId: string): void;
  search(request: SearchRequest): SearchResult;
  close(): void;
}

/** The tables of one workspace; `n` is its number in the file. */
interface Tables {
  readonly n: number;
  readonly frequency: StatementSync;
  readonly size: StatementSync;
  readonly gates: StatementSync;
  readonly find: StatementSync;
}

function openFile(path: string): IndexFile {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  try {
    database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory");
    prepareFile(database);
  } catch (error) {
    database.close();
    throw error;
  }
  const opened = new Map<string, Tables>();
  const numberOf = database.prepare("select n, version from workspaces where id = ?");

  function inTransaction<T>(kind: "immediate" | "deferred", work: () => T): T {
    database.exec(`begin ${kind}`);
    try {
      const value = work();
      database.exec("commit");
      return value;
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  }

  function rowOf(workspaceId: string): { readonly n: number; readonly version: number } | undefined {
    return numberOf.get(workspaceId) as { n: number; version: number } | undefined;
  }

  function create(workspaceId: string): number {
    const found = rowOf(workspaceId);
    if (found !== undefined) return found.n;
    const n = Number(
      database.prepare("insert into workspaces (id, version) values (?, -1)").run(workspaceId).lastInsertRowid,
    );
    // Terms come stemmed; the tokenizer only has to leave them alone.
    database.exec(`
      create table documents_${n} (id text primary key, version integer not null, audience text not null) without rowid;
      create table chunks_${n} (row integer primary key, id text not null, document_id text not null, position integer not null,
        title text not null, text text not null, url text, terms integer not null);
      create index chunks_document_${n} on chunks_${n} (document_id);
      create virtual table terms_${n} using fts5(title, body, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'");
      create virtual table frequency_${n} using fts5vocab(terms_${n}, row);
      create table size_${n} (chunks integer not null, terms integer not null);
      insert into size_${n} values (0, 0);
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
      size: database.prepare(`select chunks, terms from size_${n}`),
      gates: database.prepare(`select distinct audience from documents_${n}`),
      find: database.prepare(`
        select c.id as chunkId, c.document_id as documentId, c.position, c.title, c.text, c.url, t.title as titleTerms, t.body as bodyTerms
        from terms_${n} t join chunks_${n} c on c.row = t.rowid
        where terms_${n} match :match
          and (:gates is null or c.document_id in (select id from documents_${n} where audience in (select value from json_each(:gates))))
          and (:documents is null or c.document_id in (select value from json_each(:documents)))
        order by bm25(terms_${n}, 2.0, 1.0), c.row limit :limit`),
    };
    opened.set(workspaceId, tables);
    return tables;
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

  return {
    version: (workspaceId) => rowOf(workspaceId)?.version,
    documents(workspaceId) {
      const row = rowOf(workspaceId);
      if (row === undefined) return [];
      return database
        .prepare(`select id, version, audience from documents_${row.n}`)
        .all() as unknown as IndexedDocument[];
    },
    replace(workspaceId, changes) {
      const prepared = changes.map((change) => {
        const terms = termsOfPassages(change.chunks);
        return {
          ...change,
          chunks: change.chunks.map((chunk, index) => ({ ...chunk, ...(terms[index] ?? noTerms) })),
        };
      });
      inTransaction("immediate", () => {
        const n = create(workspaceId);
        const knownVersion = database.prepare(`select version from documents_${n} where id = ?`);
        for (const { id, version, audience, chunks } of prepared) {
          // Another process may have come further since this one read the store.
          const known = knownVersion.get(id) as { version: number } | undefined;
          if (known !== undefined && known.version > version) continue;
          removeDocument(n, id);
          database.prepare(`insert into documents_${n} values (?, ?, ?)`).run(id, version, audience);
          const insertChunk = database.prepare(
            `insert into chunks_${n} (id, document_id, position, title, text, url, terms) values (?, ?, ?, ?, ?, ?, ?)`,
          );
          const insertTerms = database.prepare(`insert into terms_${n} (rowid, title, body) values (?, ?, ?)`);
          let terms = 0;
          for (const chunk of chunks) {
            const count = chunk.titleTerms.length + chunk.bodyTerms.length;
            const { lastInsertRowid } = insertChunk.run(
              chunk.id,
              id,
              chunk.position,
              chunk.title,
              chunk.text,
              chunk.url,
              count,
            );
            insertTerms.run(lastInsertRowid, chunk.titleTerms.join(" "), chunk.bodyTerms.join(" "));
            terms += count;
          }
          database.prepare(`update size_${n} set chunks = chunks + ?, terms = terms + ?`).run(chunks.length, terms);
        }
      });
    },
    finish(workspaceId, gone, version) {
      inTransaction("immediate", () => {
        const n = create(workspaceId);
        // What is gone for an older view of the store may have come back for a newer one.
        if ((rowOf(workspaceId)?.version ?? -1) > version) return;
        for (const id of gone) removeDocument(n, id);
        database.prepare("update workspaces set version = ? where id = ?").run(version, workspaceId);
      });
    },
    drop(workspaceId) {
      if (rowOf(workspaceId) === undefined) return;
      opened.delete(workspaceId);
      inTransaction("immediate", () => {
        const row = rowOf(workspaceId);
        if (row === undefined) return;
        for (const table of ["frequency", "terms", "chunks", "documents", "size"])
          database.exec(`drop table ${table}_${row.n}`);
        database.prepare("delete from workspaces where id = ?").run(workspaceId);
      });
    },
    search(request) {
      // One view of the file: another process may be changing it.
      return inTransaction("deferred", () => {
        const tables = tablesOf(request.workspaceId);
        if (tables === undefined) return { candidates: [], chunkCount: 0, averageTerms: 0, frequency: new Map() };
        return searchTables(tables, request);
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
      `create table workspaces (n integer primary key autoincrement, id text not null unique, version integer not null)`,
    );
    database.exec(`pragma user_version = ${format}`);
  }
  database.exec("commit");
}

function searchTables(tables: Tables, request: SearchRequest): SearchResult {
  const { chunks, terms } = tables.size.get() as { chunks: number; terms: number };
  const frequency = new Map<string, number>();
  for (const term of request.terms) {
    const row = tables.frequency.get(term) as { doc: number } | undefined;
    if (row !== undefined && row.doc > 0) frequency.set(term, row.doc);
  }
  const known = request.terms.filter((term) => frequency.has(term));
  const base = { chunkCount: chunks, averageTerms: chunks === 0 ? 0 : terms / chunks, frequency };
  if (known.length === 0) return { ...base, candidates: [] };
  const gates = (tables.gates.all() as { audience: string }[]).map((row) => row.audience);
  const open = gates.filter((audience) => mayEnter(audience, request.audience));
  const rows = tables.find.all({
    match: known.map((term) => `"${term}"`).join(" OR "),
    gates: open.length === gates.length ? null : JSON.stringify(open),
    documents: request.documentIds === undefined ? null : JSON.stringify(request.documentIds),
    limit: request.limit,
  }) as unknown as FoundRow[];
  const candidates = rows.map((row): Candidate => ({
    ...row,
    titleTerms: split(row.titleTerms),
    bodyTerms: split(row.bodyTerms),
  }));
  return { ...base, candidates };
}

type FoundRow = Omit<Candidate, "titleTerms" | "bodyTerms"> & {
  readonly titleTerms: string;
  readonly bodyTerms: string;
};

const split = (terms: string): string[] => (terms === "" ? [] : terms.split(" "));

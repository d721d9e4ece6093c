import type { DatabaseSync } from "node:sqlite";

/** Raised when terms are made or stored in another way; older files are then rebuilt. */
const format = 9;

/** Creates the table of workspaces. A file of another format is emptied first. */
export function prepareFile(database: DatabaseSync): void {
  database.exec("begin immediate");
  const { user_version: version } = database.prepare("pragma user_version").get() as { user_version: number };
  if (version !== format) {
    dropEverything(database);
    database.exec(
      `create table workspaces (n integer primary key autoincrement, id text not null unique, version integer not null, seen integer not null)`,
    );
    database.exec(`pragma user_version = ${format}`);
  }
  database.exec("commit");
}

function dropEverything(database: DatabaseSync): void {
  const tables = database
    .prepare("select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all() as { name: string; sql: string }[];
  // Virtual tables go first, with their shadow tables; those that read another table go before it.
  const virtual = tables.filter(({ sql }) => /^create virtual/i.test(sql));
  const readers = virtual.filter(({ sql }) => sql.includes("fts5vocab"));
  for (const { name } of [...readers, ...virtual, ...tables]) database.exec(`drop table if exists "${name}"`);
}

/** Creates the tables of the workspace with this number. */
export function createTables(database: DatabaseSync, n: number): void {
  // Terms are already stemmed, so the tokenizer must not change them.
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
}

export function dropTables(database: DatabaseSync, n: number): void {
  for (const table of ["frequency", "terms", "chunks", "documents", "size", "words"])
    database.exec(`drop table ${table}_${n}`);
}

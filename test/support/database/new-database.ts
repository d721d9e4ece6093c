import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RowDataPacket } from "mysql2/promise";
import { createConnection } from "mysql2/promise";
import { openStore } from "#database/open.ts";

/** The server of a test run is deleted with its databases, a named one is not. */
export const isNamedServer = (process.env["TEST_MYSQL_URL"] ?? "") !== "";

export interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
  /** Drops the database at once; `remove` leaves it to the end of the server. */
  drop?(): Promise<void>;
}

/** A new database with all tables. */
export async function newSqlite(): Promise<TestDatabase> {
  const [database, file] = await Promise.all([emptySqlite(), (migrated ??= migratedFile())]);
  await writeFile(pathOf(database), file);
  return database;
}

/** A new database without tables, for tests of migrations. */
export async function emptySqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "parley-test-"));
  return { url: `sqlite:${join(folder, "parley.sqlite")}`, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Made once in each process: the migrations take longer than most tests. */
let migrated: Promise<Buffer> | undefined;

async function migratedFile(): Promise<Buffer> {
  const database = await emptySqlite();
  const store = await openStore(database.url);
  await store.migrate();
  await store.close();
  const file = await readFile(pathOf(database));
  await database.remove();
  return file;
}

const pathOf = ({ url }: TestDatabase): string => url.slice("sqlite:".length);

/** Creates a database with all tables on this server. */
export async function newMysql(server: string): Promise<TestDatabase> {
  let statements = tablesOf.get(server);
  if (statements === undefined) tablesOf.set(server, (statements = migratedTables(server)));
  const [database, tables] = await Promise.all([emptyMysql(server), statements]);
  await runOn(database.url, tables);
  return database;
}

/** Creates a database without tables on this server, for tests of migrations. */
export async function emptyMysql(server: string): Promise<TestDatabase> {
  const name = `parley_${randomBytes(6).toString("hex")}`;
  await runOn(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => runOn(server, `drop database ${name}`) };
}

/** The statements that make all tables, by server; read once in each process. No other table has rows from the start. */
const tablesOf = new Map<string, Promise<string>>();

async function migratedTables(server: string): Promise<string> {
  const database = await emptyMysql(server);
  const store = await openStore(database.url);
  await store.migrate();
  await store.close();
  const connection = await createConnection(database.url);
  try {
    const query = async (sql: string): Promise<readonly string[][]> => {
      const [rows] = await connection.query<RowDataPacket[][]>({ sql, rowsAsArray: true });
      return rows as unknown as string[][];
    };
    const statements: string[] = [];
    for (const [name] of await query("show tables")) {
      const [table] = await query(`show create table ${name}`);
      statements.push(table?.[1] ?? "");
    }
    for (const name of ["kysely_migration", "kysely_migration_lock"]) {
      statements.push(connection.format(`insert into ${name} values ?`, [await query(`select * from ${name}`)]));
    }
    return statements.join(";\n");
  } finally {
    await connection.end();
    if (isNamedServer) await database.remove();
  }
}

async function runOn(url: string, statements: string): Promise<void> {
  const connection = await createConnection({ uri: url, multipleStatements: true });
  try {
    await connection.query(statements);
  } finally {
    await connection.end();
  }
}

import { describe } from "vitest";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import type { Dialect } from "#database/dialects/dialect.ts";
import { skipped } from "../skipped.ts";
import { hasBothDatabases } from "../tier.ts";
import { mysqlServer } from "./mysql-server.ts";
import type { TestDatabase } from "./new-database.ts";
import { emptyMysql, emptySqlite, isNamedServer, newMysql, newSqlite } from "./new-database.ts";

export { newSqlite };
export type { TestDatabase };

/**
 * Runs one suite on every database: always on SQLite, and on MySQL or MariaDB where a server is installed or named in
 * `TEST_MYSQL_URL`. Otherwise the report shows the suite as skipped, with the reason. The short tier leaves MySQL out
 * where the databases do not differ.
 */
export function eachDatabase(name: string, suite: (open: () => Promise<TestDatabase>) => void): void {
  onSqlite(name, suite);
  if (hasBothDatabases()) onMysql(name, suite);
}

export function onSqlite(name: string, suite: (open: () => Promise<TestDatabase>) => void): void {
  describe(`${name} on SQLite`, () => suite(newSqlite));
}

/** Runs a suite on MySQL only: several processes share a server. */
export function onMysql(name: string, suite: (open: () => Promise<TestDatabase>) => void): void {
  const server = mysqlServer();
  if (server.url === undefined) {
    skipped(`${name} on MySQL`, server.reason);
  } else {
    const { url } = server;
    describe(`${name} on MySQL`, () => suite(async () => keptUntilEnd(await newMysql(url))));
  }
}

/** A database without tables, for tests of migrations. */
export async function emptyDatabase(dialect: Dialect): Promise<TestDatabase> {
  const { url } = mysqlServer();
  return dialect === "sqlite" || url === undefined ? emptySqlite() : keptUntilEnd(await emptyMysql(url));
}

/**
 * The server of a test run is deleted with all its databases, because MariaDB can crash when a full-text index is
 * dropped while its background thread uses it. On a named server each database is dropped.
 */
const keptUntilEnd = (database: TestDatabase): TestDatabase =>
  isNamedServer ? database : { ...database, drop: database.remove, remove: async () => undefined };

/** Opens a migrated store on a database of its own; `close` removes the database. */
export async function openTestStore(
  open: () => Promise<TestDatabase>,
): Promise<{ readonly store: OpenStore; readonly url: string; close(): Promise<void> }> {
  const database = await open();
  const store = await openStore(database.url);
  await store.migrate();
  return {
    store,
    url: database.url,
    async close() {
      await store.close();
      await database.remove();
    },
  };
}

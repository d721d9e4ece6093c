import { describe } from "vitest";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { mysqlServer } from "./mysql-server.ts";
import type { TestDatabase } from "./new-database.ts";
import { newMysql, newSqlite } from "./new-database.ts";

export { newSqlite };
export type { TestDatabase };
import { skipped } from "../skipped.ts";

/**
 * Runs one suite on every database: on SQLite always, on MySQL or MariaDB where a server is installed or named in
 * `TEST_MYSQL_URL`; otherwise it says that it was skipped and why.
 */
export function eachDatabase(name: string, suite: (open: () => Promise<TestDatabase>) => void): void {
  describe(`${name} on SQLite`, () => suite(newSqlite));
  onMysql(name, suite);
}

/** The same for what several processes do, which share a server. */
export function onMysql(name: string, suite: (open: () => Promise<TestDatabase>) => void): void {
  const server = mysqlServer();
  if (server.url === undefined) {
    skipped(`${name} on MySQL`, server.reason);
  } else {
    const { url } = server;
    describe(`${name} on MySQL`, () => suite(() => newDatabase(url)));
  }
}

/**
 * The server of a test run is thrown away as a whole, and its databases with it: MariaDB can crash when a full-text
 * index is dropped while its background thread works on it. On a server that was named, nothing is left behind.
 */
async function newDatabase(server: string): Promise<TestDatabase> {
  const database = await newMysql(server);
  const kept = { ...database, drop: database.remove, remove: async () => undefined };
  return process.env["TEST_MYSQL_URL"] === undefined ? kept : database;
}

/** A migrated store on a database of its own, and the end of both. */
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

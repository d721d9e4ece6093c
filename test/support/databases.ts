import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { describe } from "vitest";
import type { OpenStore } from "#store/open.ts";
import { openStore } from "#store/open.ts";
import { mysqlServer } from "./mysql-server.ts";
import { skipped } from "./skipped.ts";

export interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

export async function newSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "parley-test-"));
  return { url: `sqlite:${join(folder, "parley.sqlite")}`, remove: () => rm(folder, { recursive: true, force: true }) };
}

export async function newMysql(server: string): Promise<TestDatabase> {
  const name = `parley_${randomBytes(6).toString("hex")}`;
  const run = async (statement: string): Promise<void> => {
    const connection = await createConnection(server);
    try {
      await connection.query(statement);
    } finally {
      await connection.end();
    }
  };
  await run(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => run(`drop database ${name}`) };
}

/**
 * Runs one suite on every database: on SQLite always, on MySQL or MariaDB where a server is installed or named in
 * `TEST_MYSQL_URL`; otherwise it says that it was skipped and why.
 */
export function eachDatabase(name: string, suite: (open: () => Promise<TestDatabase>) => void): void {
  describe(`${name} on SQLite`, () => suite(newSqlite));
  const server = mysqlServer();
  if (server.url === undefined) {
    skipped(`${name} on MySQL`, server.reason);
  } else {
    const { url } = server;
    describe(`${name} on MySQL`, () => suite(() => newMysql(url)));
  }
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

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";

export interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
  /** Drops the database at once; `remove` leaves it to the end of the server. */
  drop?(): Promise<void>;
}

export async function newSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "parley-test-"));
  return { url: `sqlite:${join(folder, "parley.sqlite")}`, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Creates a database on this server. */
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

import { AsyncLocalStorage } from "node:async_hooks";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { CompiledQuery, KyselyPlugin, PluginTransformQueryArgs, RootOperationNode } from "kysely";
import { Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { Migrator } from "kysely/migration";
import type { PoolConnection } from "mysql2";
import type { Store } from "#engine/ports.ts";
import { makeWritableFolder } from "../data-folder.ts";
import { createGroupCommit } from "./group-commit.ts";
import { SharedServerDialect } from "./mysql-dialect.ts";
import { createMysqlStreams } from "./mysql-stream.ts";
import { initial } from "./migrations/0001-initial.ts";
import { documentParts } from "./migrations/0002-document-parts.ts";
import { webhooks } from "./migrations/0003-webhooks.ts";
import { documents } from "./migrations/0004-documents.ts";
import { people } from "./migrations/0005-people.ts";
import { limits } from "./migrations/0006-limits.ts";
import { search } from "./migrations/0007-search.ts";
import { files } from "./migrations/0009-files.ts";
import { declaredWorkspaces } from "./migrations/0008-declared-workspaces.ts";
import { desk } from "./migrations/0011-desk.ts";
import { knowledgeCollections } from "./migrations/0014-knowledge-collections.ts";
import { automation } from "./migrations/0012-automation.ts";
import { mail } from "./migrations/0015-mail.ts";
import { requestsInFlight } from "./migrations/0016-requests-in-flight.ts";
import { replyWindows } from "./migrations/0017-reply-windows.ts";
import { passingState } from "./migrations/0018-passing-state.ts";
import { platformOrders } from "./migrations/0024-platform-orders.ts";
import { searchMerging } from "./migrations/0025-search-merging.ts";
import { eventsOfMessages } from "./migrations/0026-events-of-messages.ts";
import type { Database } from "./schema.ts";
import { openDatabase, sqliteAccess, sqliteSelect } from "./sqlite.ts";

const migrations: Readonly<Record<string, Migration>> = {
  "0001-initial": initial,
  "0002-document-parts": documentParts,
  "0003-webhooks": webhooks,
  "0004-documents": documents,
  "0005-people": people,
  "0006-limits": limits,
  "0007-search": search,
  "0009-files": files,
  "0008-declared-workspaces": declaredWorkspaces,
  "0011-desk": desk,
  "0014-knowledge-collections": knowledgeCollections,
  "0012-automation": automation,
  "0015-mail": mail,
  "0016-requests-in-flight": requestsInFlight,
  "0017-reply-windows": replyWindows,
  "0018-passing-state": passingState,
  "0024-platform-orders": platformOrders,
  "0025-search-merging": searchMerging,
  "0026-events-of-messages": eventsOfMessages,
};

export interface OpenStore extends Store {
  /** Brings the schema up to date; the names of what was applied. */
  migrate(): Promise<readonly string[]>;
  /** Names of migrations that this program has and the database has not. */
  pendingMigrations(): Promise<readonly string[]>;
  /** How busy it is now; `connections` are those of the pool in use, null where there is none. */
  load(): { readonly writesWaiting: number; readonly transactions: number; readonly connections: number | null };
  /**
   * Empties the file of what was written lately and is in the database itself by now, so that nothing of what was deleted
   * is left in it. False when somebody reads it: then it is overwritten by and by.
   */
  truncateLog(): Promise<boolean>;
}

/** `sqlite:PATH` (a file, made when absent) or `mysql://user:pass@host:port/db` (MySQL 8.4, MariaDB 10.11). */
export async function openStore(
  url: string,
  { connectMs = 10_000 }: { readonly connectMs?: number } = {},
): Promise<OpenStore> {
  if (url.startsWith("sqlite:")) return openSqlite(url.slice("sqlite:".length));
  if (url.startsWith("mysql:") || url.startsWith("mariadb:")) return openMysql(url, connectMs);
  throw new Error("DATABASE_URL must begin with sqlite: or mysql:// — for example sqlite:data/parley.sqlite");
}

function openSqlite(path: string): OpenStore {
  makeWritableFolder(dirname(path));
  // The writer comes first: it makes the file that the reader opens.
  const writable = openDatabase(path, { readOnly: false });
  const readable = openDatabase(path, { readOnly: true });
  const { dialect, runNow, setFlush } = sqliteAccess(writable);
  const writer = new Kysely<Database>({ dialect });
  const reader = new Kysely<Database>({ dialect: sqliteAccess(readable).dialect, plugins: [guard] });
  const select = sqliteSelect(readable, writable);
  return assemble(
    "sqlite",
    { reader, select: async (query) => select(query) },
    writer,
    { writers: 1, groupMs: 10, groupMax: 500, mustRetry: () => false, runNow, setFlush },
    async () => {
      readable.close();
      writable.close();
    },
    () => null,
  );
}

async function openMysql(url: string, connectMs: number): Promise<OpenStore> {
  // An installation on SQLite need not load the driver.
  const { createPool } = await import("mysql2");
  const streams = createMysqlStreams(connectMs);
  const pool = createPool({
    uri: url.replace(/^mariadb:/, "mysql:"),
    connectionLimit: 12,
    charset: "utf8mb4",
    timezone: "Z",
    supportBigNumbers: true,
    connectTimeout: connectMs,
    stream: streams.open,
  });
  // What a work reads after it waited for a row's lock must be what the lock's holder wrote.
  pool.on("connection", (connection: PoolConnection) => {
    streams.signedIn(connection);
    connection.query("set session transaction isolation level read committed");
    connection.query(
      "set session innodb_lock_wait_timeout = 10, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    );
  });
  let inUse = 0;
  pool.on("acquire", () => (inUse += 1));
  pool.on("release", () => (inUse -= 1));
  const select = <R>({ sql: text, parameters }: CompiledQuery<R>): Promise<readonly R[]> =>
    new Promise((resolve, reject) => {
      pool.query(text, [...parameters], (error, rows) => {
        if (error === null) resolve(rows as R[]);
        else reject(error);
      });
    });
  const dialect = new SharedServerDialect({ pool });
  const writer = new Kysely<Database>({ dialect });
  const reader = new Kysely<Database>({ dialect, plugins: [guard] });
  return assemble(
    "mysql",
    { reader, select },
    writer,
    { writers: 2, groupMs: 30, groupMax: 200, mustRetry: isContention },
    () => promisify(pool.end.bind(pool))(),
    () => inUse,
  );
}

function isContention(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === "ER_LOCK_DEADLOCK" || code === "ER_LOCK_WAIT_TIMEOUT" || code === "ER_CHECKREAD";
}

const inside = new AsyncLocalStorage<true>();

/** Keeps the reading side reading, and out of transactions, where it would miss what they have written. */
const guard: KyselyPlugin = {
  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    requireOutside();
    if (node.kind !== "SelectQueryNode" && node.kind !== "RawNode") {
      throw new Error(`store.read cannot run a ${node.kind}: use store.write`);
    }
    return node;
  },
  transformResult: async ({ result }) => result,
};

function requireOutside(): void {
  if (inside.getStore() === true) throw new Error("store.read was used inside store.write: use the transaction");
}

interface Reading {
  readonly reader: Kysely<Database>;
  readonly select: Store["select"];
}

function assemble(
  dialect: Store["dialect"],
  { reader, select }: Reading,
  writer: Kysely<Database>,
  options: Parameters<typeof createGroupCommit>[1],
  release: () => Promise<void>,
  connections: () => number | null,
): OpenStore {
  const group = createGroupCommit(writer, options);
  const migrator = new Migrator({ db: writer, provider: { getMigrations: async () => ({ ...migrations }) } });
  return {
    dialect,
    read: reader,
    select(query) {
      requireOutside();
      return select(query);
    },
    write(work, flushed) {
      if (inside.getStore() === true) throw new Error("store.write was called inside store.write: use the transaction");
      return group.write((tx) => inside.run(true, () => work(tx)), flushed);
    },
    isCalm: group.isCalm,
    async migrate() {
      const { error, results } = await migrator.migrateToLatest();
      if (error !== undefined)
        throw new Error("the database's schema could not be brought up to date", { cause: error });
      return (results ?? []).map((result) => result.migrationName);
    },
    async pendingMigrations() {
      return (await migrator.getMigrations()).filter((each) => each.executedAt === undefined).map((each) => each.name);
    },
    load: () => ({ ...group.load(), connections: connections() }),
    async truncateLog() {
      if (dialect !== "sqlite") return true;
      await group.drained();
      const { rows } = await sql<{ readonly busy: number }>`pragma wal_checkpoint(truncate)`.execute(writer);
      return rows[0]?.busy === 0;
    },
    async close() {
      await group.drained();
      await release();
    },
  };
}

import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { CompiledQuery, KyselyPlugin, PluginTransformQueryArgs, RootOperationNode } from "kysely";
import { Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { Migrator } from "kysely/migration";
import type { Store, StoreLoad, Tx, WhenBackOptions, WriteOptions } from "./contract.ts";
import { makeWritableFolder } from "#runtime/data-folder.ts";
import { createCommitMarks } from "./commit-marks.ts";
import { isConnectionLost, isDatabaseFault } from "./faults.ts";
import { DamagedDatabase, NewerDatabase, damageIn } from "./damage.ts";
import { createGroupCommit } from "./group-commit.ts";
import { watchConnections } from "./dialects/mysql-connections.ts";
import { SharedServerDialect } from "./dialects/mysql-dialect.ts";
import { createMysqlStreams } from "./dialects/mysql-stream.ts";
import { parseMysqlUrl, tlsOf } from "./dialects/mysql-url.ts";
import { initial } from "./migrations/0001-initial.ts";
import { documentParts } from "./migrations/0002-document-parts.ts";
import { webhooks } from "./migrations/0003-webhooks.ts";
import { documents } from "./migrations/0004-documents.ts";
import { people } from "./migrations/0005-people.ts";
import { limits } from "./migrations/0006-limits.ts";
import { search } from "./migrations/0007-search.ts";
import { declaredWorkspaces } from "./migrations/0008-declared-workspaces.ts";
import { files } from "./migrations/0009-files.ts";
import { desk } from "./migrations/0011-desk.ts";
import { automation } from "./migrations/0012-automation.ts";
import { knowledgeCollections } from "./migrations/0014-knowledge-collections.ts";
import { mail } from "./migrations/0015-mail.ts";
import { requestsInFlight } from "./migrations/0016-requests-in-flight.ts";
import { replyWindows } from "./migrations/0017-reply-windows.ts";
import { passingState } from "./migrations/0018-passing-state.ts";
import { platformOrders } from "./migrations/0024-platform-orders.ts";
import { searchMerging } from "./migrations/0025-search-merging.ts";
import { eventsOfMessages } from "./migrations/0026-events-of-messages.ts";
import { searchMarks } from "./migrations/0027-search-marks.ts";
import { provenance } from "./migrations/0028-provenance.ts";
import { commitMarks } from "./migrations/0029-commit-marks.ts";
import { urgency } from "./migrations/0030-urgency.ts";
import { crawlRequests } from "./migrations/0031-crawl-requests.ts";
import { administration } from "./migrations/0032-administration.ts";
import { team } from "./migrations/0033-team.ts";
import { signIn } from "./migrations/0034-sign-in.ts";
import { channelAccounts } from "./migrations/0035-channel-accounts.ts";
import { articles } from "./migrations/0036-articles.ts";
import { reports } from "./migrations/0037-reports.ts";
import { feedback } from "./migrations/0038-feedback.ts";
import { keyUse } from "./migrations/0040-key-use.ts";
import { firstSteps } from "./migrations/0041-first-steps.ts";
import { oauth } from "./migrations/0042-oauth.ts";
import { contactKeyColumns } from "./migrations/0044-contact-keys.ts";
import { singleSignOn } from "./migrations/0045-single-sign-on.ts";
import { reportDays } from "./migrations/0048-report-days.ts";
import { avatars } from "./migrations/0049-avatars.ts";
import { processVersions } from "./migrations/0052-process-versions.ts";
import { slaNotices } from "./migrations/0053-sla-notices.ts";
import { declaredTeams } from "./migrations/0054-declared-teams.ts";
import { channelInstalls } from "./migrations/0055-channel-installs.ts";
import { dueOrder } from "./migrations/0056-due-order.ts";
import { skippedMessages } from "./migrations/0057-skipped-messages.ts";
import { pendingStart } from "./migrations/0058-pending-start.ts";
import { oneSpellingOfNumbers } from "./migrations/0059-one-spelling-of-numbers.ts";
import { noteOfPages } from "./migrations/0060-note-of-pages.ts";
import { messageReferences } from "./migrations/0061-message-references.ts";
import { reactions } from "./migrations/0062-reactions.ts";
import { forwardedMessages } from "./migrations/0063-forwarded-messages.ts";
import { encoderCalibration } from "./migrations/0065-encoder-calibration.ts";
import { webhookHeaders } from "./migrations/0066-webhook-headers.ts";
import { messageReactionTime } from "./migrations/0067-message-reaction-time.ts";
import type { Database } from "./schema/tables.ts";
import { openDatabase, sqliteAccess, sqliteSelect } from "./dialects/sqlite.ts";
import { inTransaction, isInTransaction } from "./transaction-context.ts";

const migrations: Readonly<Record<string, Migration>> = {
  "0001-initial": initial,
  "0002-document-parts": documentParts,
  "0003-webhooks": webhooks,
  "0004-documents": documents,
  "0005-people": people,
  "0006-limits": limits,
  "0007-search": search,
  "0008-declared-workspaces": declaredWorkspaces,
  "0009-files": files,
  "0011-desk": desk,
  "0012-automation": automation,
  "0014-knowledge-collections": knowledgeCollections,
  "0015-mail": mail,
  "0016-requests-in-flight": requestsInFlight,
  "0017-reply-windows": replyWindows,
  "0018-passing-state": passingState,
  "0024-platform-orders": platformOrders,
  "0025-search-merging": searchMerging,
  "0026-events-of-messages": eventsOfMessages,
  "0027-search-marks": searchMarks,
  "0028-provenance": provenance,
  "0029-commit-marks": commitMarks,
  "0030-urgency": urgency,
  "0031-crawl-requests": crawlRequests,
  "0032-administration": administration,
  "0033-team": team,
  "0034-sign-in": signIn,
  "0035-channel-accounts": channelAccounts,
  "0036-articles": articles,
  "0037-reports": reports,
  "0038-feedback": feedback,
  "0040-key-use": keyUse,
  "0041-first-steps": firstSteps,
  "0042-oauth": oauth,
  "0044-contact-keys": contactKeyColumns,
  "0045-single-sign-on": singleSignOn,
  "0048-report-days": reportDays,
  "0049-avatars": avatars,
  "0052-process-versions": processVersions,
  "0053-sla-notices": slaNotices,
  "0054-declared-teams": declaredTeams,
  "0055-channel-installs": channelInstalls,
  "0056-due-order": dueOrder,
  "0057-skipped-messages": skippedMessages,
  "0058-pending-start": pendingStart,
  "0059-one-spelling-of-numbers": oneSpellingOfNumbers,
  "0060-note-of-pages": noteOfPages,
  "0061-message-references": messageReferences,
  "0062-reactions": reactions,
  "0063-forwarded-messages": forwardedMessages,
  "0065-encoder-calibration": encoderCalibration,
  "0066-webhook-headers": webhookHeaders,
  "0067-message-reaction-time": messageReactionTime,
};

export interface OpenStore extends Store {
  /** Applies migrations, and returns their names. Throws {@link NewerDatabase}, {@link DamagedDatabase}. */
  migrate(): Promise<readonly string[]>;
  /** Checks the database file, up to this size. Throws {@link DamagedDatabase}. */
  check(bytesMax?: number): Promise<void>;
  /** Names of the migrations that are still to be applied. Throws {@link NewerDatabase}. */
  pendingMigrations(): Promise<readonly string[]>;
  load(): StoreLoad;
  /**
   * Truncates the write-ahead log, so that it holds no deleted data. False while a reader uses it: later writes overwrite
   * it then.
   */
  truncateLog(): Promise<boolean>;
}

/** `sqlite:PATH` (the file is created when missing) or `mysql://user:pass@host:port/db` (MySQL 8.4, MariaDB 10.11). */
export async function openStore(
  url: string,
  { connectMs = 10_000, statementMs = 20_000 }: { readonly connectMs?: number; readonly statementMs?: number } = {},
): Promise<OpenStore> {
  if (url.startsWith("sqlite:")) return openSqlite(url.slice("sqlite:".length));
  if (url.startsWith("mysql:") || url.startsWith("mariadb:")) return openMysql(url, connectMs, statementMs);
  throw new Error("DATABASE_URL must begin with sqlite: or mysql:// — for example sqlite:data/parley.sqlite");
}

function openSqlite(path: string): OpenStore {
  makeWritableFolder(dirname(path));
  // The writer is opened first, since it creates the file.
  const writable = openDatabase(path, { readOnly: false });
  const readable = openDatabase(path, { readOnly: true });
  const count = { statements: 0 };
  const { dialect, runNow, setFlush } = sqliteAccess(writable, count);
  const writer = new Kysely<Database>({ dialect });
  const reader = new Kysely<Database>({ dialect: sqliteAccess(readable, count).dialect, plugins: [guard] });
  const select = sqliteSelect(readable, writable, count);
  return assemble(
    "sqlite",
    { reader, select: async (query) => select(query) },
    writer,
    { writers: 1, groupMs: 10, groupMax: 500, attemptsAfter: () => 0, runNow, setFlush },
    async () => {
      readable.close();
      writable.close();
    },
    () => ({ connections: null, statementsRun: count.statements }),
    path,
  );
}

async function openMysql(url: string, connectMs: number, statementMs: number): Promise<OpenStore> {
  // Loaded only where it is used. A bundle has the names of a CommonJS package only in its default export.
  const { createPool } = (await import("mysql2")).default;
  const streams = createMysqlStreams(connectMs);
  const { sslMode, sslCa, socketPath, ...target } = parseMysqlUrl(url);
  const ssl = tlsOf({ sslMode, sslCa });
  const connections = watchConnections(
    createPool({
      ...target,
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(ssl === undefined ? {} : { ssl }),
      connectionLimit: 12,
      charset: "utf8mb4",
      timezone: "Z",
      supportBigNumbers: true,
      connectTimeout: connectMs,
      stream: streams.open,
    }),
    { streams, statementMs, mayBePlain: sslMode === "preferred" },
  );
  const { pool, run } = connections;
  const dialect = new SharedServerDialect({ pool });
  const writer = new Kysely<Database>({ dialect });
  const reader = new Kysely<Database>({ dialect, plugins: [guard] });
  const store = assemble(
    "mysql",
    {
      reader,
      select: async <R>({ sql: text, parameters }: CompiledQuery<R>) => (await run(text, parameters)) as readonly R[],
    },
    writer,
    { writers: 2, groupMs: 30, groupMax: 200, attemptsAfter, marks: createCommitMarks(run) },
    () => promisify(pool.end.bind(pool))(),
    () => ({ connections: connections.inUse(), statementsRun: connections.statements() }),
  );
  // Migrations of large tables take longer than the limit of statements.
  return { ...store, migrate: () => connections.unlimited(() => store.migrate()) };
}

/** Number of retries after the database rolled back a transaction. */
function attemptsAfter(error: unknown): number {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (code === "ER_LOCK_DEADLOCK" || code === "ER_LOCK_WAIT_TIMEOUT" || code === "ER_CHECKREAD") return 6;
  return isConnectionLost(error) ? 2 : 0;
}

/** Rejects writes by the reading side, and its use in transactions, whose own writes it would miss. */
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
  if (isInTransaction()) throw new Error("store.read was used inside store.write: use the transaction");
}

/** Interval of attempts while the database is away. */
const againMs = 500;

/** Throws {@link NewerDatabase} where the database has migrations that this program does not know. */
async function requireKnown(db: Kysely<Database>): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === "kysely_migration")) return;
  const { rows } = await sql<{ readonly name: string }>`select name from kysely_migration order by name`.execute(db);
  const unknown = rows.map(({ name }) => name).filter((name) => migrations[name] === undefined);
  if (unknown.length > 0) throw new NewerDatabase(unknown);
}

async function quickCheck(
  db: Kysely<Database>,
  path: string | undefined,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<void> {
  if (path === undefined || (await stat(path)).size > bytesMax) return;
  const { rows } = await sql<{ readonly quick_check: string }>`pragma quick_check(3)`.execute(db);
  const found = rows.map((row) => row.quick_check).filter((line) => line !== "ok");
  if (found.length > 0) throw new DamagedDatabase(path, found.join("; ").replaceAll(/\s+/g, " ").slice(0, 300));
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
  ran: () => Pick<StoreLoad, "connections" | "statementsRun">,
  path?: string,
): OpenStore {
  const group = createGroupCommit(writer, options);
  let closed = false;
  const translated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const damage = damageIn(error);
      if (damage !== undefined && path !== undefined) throw new DamagedDatabase(path, damage, error);
      throw error;
    }
  };
  const migrator = new Migrator({ db: writer, provider: { getMigrations: async () => ({ ...migrations }) } });

  function write<T>(work: (tx: Tx) => Promise<T>, flushed?: WriteOptions): Promise<T> {
    if (isInTransaction()) throw new Error("store.write was called inside store.write: use the transaction");
    return inTransaction(work, (run) => group.write(run, flushed));
  }

  async function writeWhenBack(work: (tx: Tx) => Promise<void>, { ms, failed }: WhenBackOptions): Promise<void> {
    const end = performance.now() + ms;
    const again = async (): Promise<void> => {
      try {
        await write(work, { flush: false });
      } catch (error) {
        if (!isDatabaseFault(error)) throw error;
        if (closed || performance.now() > end) failed(error);
        else setTimeout(() => void again().catch(failed), againMs).unref();
      }
    };
    await again();
  }

  return {
    dialect,
    read: reader,
    select(query) {
      requireOutside();
      return select(query);
    },
    write,
    writeWhenBack,
    isCalm: group.isCalm,
    async migrate() {
      return translated(async () => {
        await requireKnown(reader);
        const { error, results } = await migrator.migrateToLatest();
        if (error !== undefined) {
          throw new Error("the database's schema could not be brought up to date", { cause: error });
        }
        return (results ?? []).map((result) => result.migrationName);
      });
    },
    check: (bytesMax) => translated(() => quickCheck(reader, path, bytesMax)),
    async pendingMigrations() {
      await translated(() => requireKnown(reader));
      return (await migrator.getMigrations()).filter((each) => each.executedAt === undefined).map((each) => each.name);
    },
    load: () => ({ ...group.load(), ...ran() }),
    async truncateLog() {
      if (dialect !== "sqlite") return true;
      await group.drained();
      const { rows } = await sql<{ readonly busy: number }>`pragma wal_checkpoint(truncate)`.execute(writer);
      return rows[0]?.busy === 0;
    },
    async close() {
      closed = true;
      await group.drained();
      await release();
    },
  };
}

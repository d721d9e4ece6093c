import type { StatementSync } from "node:sqlite";
import { DatabaseSync } from "node:sqlite";
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";
import { DamagedDatabase, damageIn } from "#database/damage.ts";
import type { RunNow } from "./execute.ts";
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";

const statementsMax = 400;

type Row = Readonly<Record<string, unknown>>;

interface Prepared {
  readonly statement: StatementSync;
  /**
   * Makes a row of a list of values; undefined where there are no rows. Cached, since reading the columns costs as much as
   * a short query.
   */
  rowOf: RowOf | undefined;
  /** Whether the statement selects all columns. */
  readonly takesAll: boolean;
  /** For such a statement, the schema version of `rowOf`; undefined: unknown. */
  version: unknown;
}

type RowOf = (values: readonly unknown[]) => Row;

type Value = null | number | bigint | string | Uint8Array;

/** Statements that a process has run, for the metrics. */
export interface StatementCount {
  statements: number;
}

/** Opens a database file with the required settings. */
export function openDatabase(path: string, options: { readonly readOnly: boolean }): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: options.readOnly, timeout: 10_000 });
    if (!options.readOnly) {
      database.exec("pragma journal_mode = wal");
      // Messages are acknowledged after their commit, so by default a commit must survive a power failure.
      database.exec("pragma synchronous = full");
      // Deleted data is overwritten, so that the file does not keep erased customers' data.
      database.exec("pragma secure_delete = on");
    }
    database.exec("pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -16000");
    return database;
  } catch (error) {
    database?.close();
    const damage = damageIn(error);
    if (damage !== undefined) throw new DamagedDatabase(path, damage, error);
    const reason = error instanceof Error ? error.message : "unknown failure";
    throw new Error(`${path} cannot be used: ${reason}; the file and its folder must be writable`, { cause: error });
  }
}

export type RunSelect = <R>(query: CompiledQuery<R>) => readonly R[];

/**
 * Runs compiled reads synchronously. Each write empties the page cache of the reading connection, but not of the writing
 * one, so the writing connection also reads between its transactions.
 */
export function sqliteSelect(readable: DatabaseSync, writable: DatabaseSync, count: StatementCount): RunSelect {
  const aside = new NodeSqliteConnection(readable, count);
  const between = new NodeSqliteConnection(writable, count);
  return (query) => (writable.isTransaction ? aside : between).select(query);
}

export interface SqliteAccess {
  readonly dialect: Dialect;
  /** Must be called only by the holder of the queue's turn. */
  readonly runNow: RunNow;
  /** Whether further commits wait for the disk. Must not be called within a transaction. */
  setFlush(flush: boolean): void;
}

/** Kysely over one connection of node:sqlite. Calls are synchronous, so a queue serializes the callers. */
export function sqliteAccess(database: DatabaseSync, count: StatementCount): SqliteAccess {
  let flushes = true;
  const connection = new NodeSqliteConnection(database, count);
  return {
    dialect: {
      createAdapter: () => new TransactionalDdlAdapter(),
      createDriver: () => new NodeSqliteDriver(connection),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    runNow: (query) => connection.run(query),
    setFlush(flush) {
      if (flush === flushes) return;
      // In both modes the log stays in order: a flush includes all earlier commits.
      connection.exec(`pragma synchronous = ${flush ? "full" : "normal"}`);
      flushes = flush;
    },
  };
}

/** SQLite rolls back schema changes too, so an interrupted migration leaves nothing behind. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class NodeSqliteDriver implements Driver {
  readonly #connection: NodeSqliteConnection;
  #turn: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  constructor(connection: NodeSqliteConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#turn;
    let release: () => void = () => undefined;
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    this.#release = release;
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    // A deferred transaction fails at its first write when another process wrote after its first read.
    this.#connection.exec("begin immediate");
  }

  async commitTransaction(): Promise<void> {
    this.#connection.exec("commit");
  }

  async rollbackTransaction(): Promise<void> {
    // An error such as "disk full" ends the transaction by itself.
    if (this.#connection.database.isTransaction) this.#connection.exec("rollback");
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async destroy(): Promise<void> {
    this.#connection.database.close();
  }
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly database: DatabaseSync;
  /** Recently used statements, in two generations; statements in neither are prepared again. */
  #recent = new Map<string, Prepared>();
  #older = new Map<string, Prepared>();
  readonly #versionNow: StatementSync;
  readonly #count: StatementCount;

  constructor(database: DatabaseSync, count: StatementCount) {
    this.database = database;
    this.#count = count;
    this.#versionNow = database.prepare("pragma schema_version");
    this.#versionNow.setReturnArrays(true);
  }

  exec(text: string): void {
    this.#count.statements += 1;
    this.database.exec(text);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.run(query);
  }

  run<R>(query: CompiledQuery): QueryResult<R> {
    const { statement, rowOf } = this.#prepare(query.sql);
    if (rowOf !== undefined) return { rows: this.select<R>(query) };
    this.#count.statements += 1;
    const values = query.parameters.map(toValue);
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  select<R>(query: CompiledQuery): R[] {
    const prepared = this.#prepare(query.sql);
    this.#count.statements += 1;
    const before = this.#versionBefore(prepared);
    const rows = prepared.statement.all(...query.parameters.map(toValue));
    const rowOf = this.#rowOfNow(prepared, before);
    return rowOf === undefined ? [] : (rows.map((values) => rowOf(values as unknown as unknown[])) as R[]);
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const prepared = this.#prepare(query.sql);
    this.#count.statements += 1;
    const before = this.#versionBefore(prepared);
    let rowOf: RowOf | undefined;
    for (const values of prepared.statement.iterate(...query.parameters.map(toValue))) {
      rowOf ??= this.#rowOfNow(prepared, before);
      if (rowOf !== undefined) yield { rows: [rowOf(values as unknown as unknown[]) as R] };
    }
  }

  #versionBefore({ takesAll, version }: Prepared): unknown {
    return takesAll && version === undefined ? this.#schemaVersion() : version;
  }

  /**
   * The row maker for the rows just read. After a schema change by another process SQLite recompiles the statement
   * silently, and `select *` then has other columns. The columns belong to version `before` if the version is unchanged
   * afterwards.
   */
  #rowOfNow(prepared: Prepared, before: unknown): RowOf | undefined {
    if (!prepared.takesAll) return prepared.rowOf;
    const isNamed = prepared.version !== undefined;
    if (isNamed && prepared.version === this.#schemaVersion()) return prepared.rowOf;
    prepared.rowOf = rowMakerOf(prepared.statement);
    prepared.version = isNamed ? undefined : before;
    return prepared.rowOf;
  }

  #schemaVersion(): unknown {
    this.#count.statements += 1;
    return (this.#versionNow.get() as unknown as readonly unknown[])[0];
  }

  #prepare(text: string): Prepared {
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const prepared = this.#older.get(text) ?? this.#prepareAnew(text);
    // Moving each used statement to the end of one map would cost more than the statement.
    if (this.#recent.size >= statementsMax / 2) {
      this.#older = this.#recent;
      this.#recent = new Map<string, Prepared>();
    }
    this.#recent.set(text, prepared);
    return prepared;
  }

  #prepareAnew(text: string): Prepared {
    const named = this.#withColumns(text);
    const statement = this.database.prepare(named);
    const rowOf = rowMakerOf(statement);
    statement.setReturnArrays(rowOf !== undefined);
    const takesAll = rowOf !== undefined && /\*(?!\))/.test(named);
    return { statement, rowOf, takesAll, version: undefined };
  }

  /** Names all columns where Kysely selects them all, so that the schema version need not be read with each query. */
  #withColumns(text: string): string {
    return text.replaceAll(
      /(?<=^select )\*(?= from ("\w+")(?: where | order by |$))|("\w+")\.\*/g,
      (star, only?: string, one?: string) => {
        const table = only ?? one ?? "";
        const columns = this.database.prepare(`pragma table_info(${table})`).all();
        const names = columns.map(({ name }) => `${table}."${String(name)}"`).join(", ");
        return names === "" ? star : names;
      },
    );
  }
}

function rowMakerOf(statement: StatementSync): RowOf | undefined {
  const names = statement.columns().map(({ name }) => name);
  return names.length === 0 ? undefined : rowMaker(names);
}

/** The driver's rows are slow to read and to copy; these are built by one constructor, so all have the same shape. */
function rowMaker(names: readonly string[]): RowOf {
  const pattern: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, null]));
  return (values) => {
    const row = { ...pattern };
    names.forEach((name, at) => (row[name] = values[at]));
    return row;
  };
}

function toValue(parameter: unknown): Value {
  switch (typeof parameter) {
    case "string":
    case "number":
    case "bigint":
      return parameter;
    case "boolean":
      return parameter ? 1 : 0;
    default:
      if (parameter === null || parameter === undefined) return null;
      if (parameter instanceof Uint8Array) return parameter;
      throw new TypeError(`a database parameter cannot be a ${typeof parameter}`);
  }
}

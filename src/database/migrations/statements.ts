import type { Kysely } from "kysely";
import { sql } from "kysely";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { Dialect } from "#database/dialects/dialect.ts";

const engine = "engine=InnoDB default character set utf8mb4 collate utf8mb4_bin comment='Parley'";

/** Column types by name, so that one schema text serves both databases. */
const types: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  sqlite: {
    $serial: "integer primary key autoincrement",
    $id: "text",
    $key: "text",
    $short: "text",
    $text: "text",
    $blob: "blob",
    $time: "integer",
    $int: "integer",
    $flag: "integer",
    $engine: "",
    $clustered: "without rowid",
  },
  mysql: {
    $serial: "bigint not null auto_increment primary key",
    // Ids are case-sensitive, so the collation is binary. It is the same for all columns, since they are compared with
    // values from clients.
    $id: "varchar(64) character set utf8mb4 collate utf8mb4_bin",
    $key: "varchar(190) character set utf8mb4 collate utf8mb4_bin",
    $short: "varchar(32) character set utf8mb4 collate utf8mb4_bin",
    $text: "longtext character set utf8mb4 collate utf8mb4_bin",
    $blob: "longblob",
    $time: "bigint",
    $int: "bigint",
    $flag: "tinyint",
    $engine: engine,
    $clustered: engine,
  },
};

/** Replaces the names of column types in the statement. */
export function withTypes(statement: string, dialect: Dialect): string {
  return statement.replaceAll(/\$[a-z]+/g, (name) => {
    const type = types[dialect][name];
    if (type === undefined) throw new Error(`no column type ${name}`);
    return type;
  });
}

/**
 * Runs statements that end with semicolons. MySQL commits each by itself, so an interrupted migration may have run some
 * of them: on MySQL, existing tables and columns are skipped. For this reason each table and column is added by a
 * statement of its own, and statements that move data must be repeatable.
 */
export async function apply(db: Kysely<unknown>, statements: string): Promise<void> {
  const dialect = dialectOf(db);
  for (const statement of statements.split(";")) {
    if (statement.trim() === "") continue;
    try {
      await sql.raw(withTypes(statement, dialect)).execute(db);
    } catch (error) {
      if (dialect !== "mysql" || !isDone(error)) throw error;
    }
  }
}

const doneCodes: ReadonlySet<unknown> = new Set([
  "ER_TABLE_EXISTS_ERROR",
  "ER_DUP_FIELDNAME",
  "ER_DUP_KEYNAME",
  "ER_CANT_DROP_FIELD_OR_KEY",
]);

function isDone(error: unknown): boolean {
  return doneCodes.has((error as { readonly code?: unknown } | null)?.code);
}

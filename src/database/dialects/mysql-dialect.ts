import type { DatabaseIntrospector, Kysely, TableMetadata } from "kysely";
import { MysqlDialect, sql } from "kysely";
import { DEFAULT_MIGRATION_LOCK_TABLE, DEFAULT_MIGRATION_TABLE } from "kysely/migration";

const internal: ReadonlySet<string> = new Set([DEFAULT_MIGRATION_TABLE, DEFAULT_MIGRATION_LOCK_TABLE]);

interface ColumnRow {
  readonly tableName: string;
  readonly name: string;
  readonly dataType: string;
  readonly nullable: string;
  readonly extra: string;
  readonly defaultValue: string | null;
  readonly comment: string;
}

/** Reads its schema in a time that does not depend on the server's other databases. */
export class SharedServerDialect extends MysqlDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    const introspector = super.createIntrospector(db);
    return {
      getSchemas: () => introspector.getSchemas(),
      getTables: (options) => tablesOf(db, options?.withInternalKyselyTables ?? false),
    };
  }
}

/**
 * Like Kysely's own introspection, but with two queries instead of a join. For the join MariaDB opens all tables of all
 * databases, at each start and each command.
 */
async function tablesOf(db: Kysely<unknown>, withInternal: boolean): Promise<TableMetadata[]> {
  const { rows: tables } = await sql<{ readonly name: string; readonly kind: string; readonly home: string }>`
    select table_name as name, table_type as kind, table_schema as home from information_schema.tables
    where table_schema = database() order by table_name`.execute(db);
  const { rows: columns } = await sql<ColumnRow>`
    select table_name as tableName, column_name as name, data_type as dataType, is_nullable as nullable,
      extra as extra, column_default as defaultValue, column_comment as comment
    from information_schema.columns
    where table_schema = database() order by table_name, ordinal_position`.execute(db);
  const byTable = Map.groupBy(columns, ({ tableName }) => tableName);
  return tables
    .filter(({ name }) => withInternal || !internal.has(name))
    .map(({ name, kind, home }) => ({
      name,
      isView: kind === "VIEW",
      isForeign: false,
      schema: home,
      columns: (byTable.get(name) ?? []).map((column) => ({
        name: column.name,
        dataType: column.dataType,
        isNullable: column.nullable === "YES",
        isAutoIncrementing: column.extra.toLowerCase().includes("auto_increment"),
        hasDefaultValue: column.defaultValue !== null,
        ...(column.comment === "" ? {} : { comment: column.comment }),
      })),
    }));
}

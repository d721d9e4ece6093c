import type { Insertable } from "kysely";
import { CompiledQuery } from "kysely";
import type { Tx } from "#database/contract.ts";
import { dialectOf } from "./dialect.ts";
import type { Dialect } from "./dialect.ts";
import { execute } from "./execute.ts";
import type { Database } from "#database/schema/tables.ts";

/** How an insert changes a row whose keys exist. */
export interface Upsert<Column extends string = string> {
  readonly keys: readonly Column[];
  /** Columns that get the given values. */
  readonly replace?: readonly Column[];
  /** Columns to which the given values are added. */
  readonly add?: readonly Column[];
}

/** Columns that the database computes. Rows that were read have them; a statement must not write them. */
const computed: ReadonlySet<string> = new Set(["waiting_since"]);

/** Larger statements save little time. */
const rowsMax = 64;

const texts = new Map<string, string>();
const textsMax = 500;

/**
 * Inserts rows with few, cached statements. SQLite gets them in powers of two, so that it need not compile a statement for
 * every number of rows; MySQL gets one statement, since each is a round trip.
 */
export async function insertRows<Table extends keyof Database>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Database[Table]>[],
  /** How to change rows with existing keys; absent: the insert fails. */
  upsert?: Upsert<keyof Insertable<Database[Table]> & string>,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const written = (row: object) => Object.keys(row).filter((column) => !computed.has(column));
  const columns = written(first) as (keyof Insertable<Database[Table]> & string)[];
  const isAlike = (row: Insertable<Database[Table]>): boolean =>
    written(row).length === columns.length && columns.every((column) => column in row);
  if (!rows.every(isAlike)) throw new Error(`rows for ${table} must have the same columns`);
  const dialect = dialectOf(tx);
  for (let at = 0; at < rows.length;) {
    const left = rows.length - at;
    const count = dialect === "mysql" ? left : Math.min(rowsMax, 2 ** Math.floor(Math.log2(left)));
    const parameters: unknown[] = [];
    for (const row of rows.slice(at, at + count)) for (const column of columns) parameters.push(row[column]);
    await execute(tx, CompiledQuery.raw(textFor(dialect, table, columns, count, upsert), parameters));
    at += count;
  }
}

/** Contains only names of the schema and placeholders. */
function textFor(dialect: Dialect, table: string, columns: readonly string[], count: number, upsert?: Upsert): string {
  const key = `${dialect} ${table} ${columns.join()} ${count} ${JSON.stringify(upsert)}`;
  let text = texts.get(key);
  if (text === undefined) {
    text = dialect === "mysql" ? mysqlText(table, columns, count, upsert) : sqliteText(table, columns, count, upsert);
    if (texts.size >= textsMax) texts.clear();
    texts.set(key, text);
  }
  return text;
}

/**
 * MySQL deprecates `values()`, and the successors in MySQL and MariaDB differ. Both support the columns of a selected
 * row.
 */
function mysqlText(table: string, columns: readonly string[], count: number, upsert?: Upsert): string {
  const names = columns.map((column) => `\`${column}\``);
  const into = `insert into \`${table}\` (${names.join(", ")})`;
  if (upsert === undefined) return `${into} ${valuesText(columns, count)}`;
  const first = `select ${names.map((name) => `? as ${name}`).join(", ")}`;
  const others = ` union all select ${columns.map(() => "?").join(", ")}`.repeat(count - 1);
  return `${into} select * from (${first}${others}) as given on duplicate key update ${changesText(upsert, {
    quote: "`",
    table,
    given: "given",
  })}`;
}

function sqliteText(table: string, columns: readonly string[], count: number, upsert?: Upsert): string {
  const text = `insert into "${table}" (${columns.map((column) => `"${column}"`).join(", ")}) ${valuesText(columns, count)}`;
  if (upsert === undefined) return text;
  return `${text} on conflict (${upsert.keys.join(", ")}) do update set ${changesText(upsert, {
    quote: '"',
    table,
    given: "excluded",
  })}`;
}

function valuesText(columns: readonly string[], count: number): string {
  const row = `(${columns.map(() => "?").join(", ")})`;
  return `values ${Array.from({ length: count }, () => row).join(", ")}`;
}

function changesText(
  { replace = [], add = [] }: Upsert,
  { quote, table, given }: { readonly quote: string; readonly table: string; readonly given: string },
): string {
  const name = (column: string): string => quote + column + quote;
  return [
    ...replace.map((column) => `${name(column)} = ${given}.${name(column)}`),
    ...add.map((column) => `${name(column)} = ${name(table)}.${name(column)} + ${given}.${name(column)}`),
  ].join(", ");
}

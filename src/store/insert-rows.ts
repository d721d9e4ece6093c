import type { Insertable } from "kysely";
import { CompiledQuery } from "kysely";
import type { Tx } from "#engine/ports.ts";
import { dialectOf } from "./dialect.ts";
import type { Dialect } from "./dialect.ts";
import { execute } from "./execute.ts";
import type { Database } from "./schema.ts";

/** More at once save little, and statements of many values are large. */
const rowsMax = 64;

const texts = new Map<string, string>();
const textsMax = 500;

/**
 * Inserts rows, in few statements and without building them anew. SQLite gets them in numbers that are powers of two, so
 * that it has not to compile a statement for every number; to MySQL a statement is a round trip, so it gets one.
 */
export async function insertRows<Table extends keyof Database>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Database[Table]>[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first) as (keyof Insertable<Database[Table]> & string)[];
  const isAlike = (row: Insertable<Database[Table]>): boolean =>
    Object.keys(row).length === columns.length && columns.every((column) => column in row);
  if (!rows.every(isAlike)) throw new Error(`rows for ${table} must have the same columns`);
  const dialect = dialectOf(tx);
  for (let at = 0; at < rows.length;) {
    const left = rows.length - at;
    const count = dialect === "mysql" ? left : Math.min(rowsMax, 2 ** Math.floor(Math.log2(left)));
    const parameters: unknown[] = [];
    for (const row of rows.slice(at, at + count)) for (const column of columns) parameters.push(row[column]);
    await execute(tx, CompiledQuery.raw(textFor(dialect, table, columns, count), parameters));
    at += count;
  }
}

/** Made of names of the schema and marks for values. */
function textFor(dialect: Dialect, table: string, columns: readonly string[], count: number): string {
  const key = `${dialect} ${table} ${columns.join()} ${count}`;
  let text = texts.get(key);
  if (text === undefined) {
    const quote = dialect === "mysql" ? "`" : '"';
    const names = columns.map((column) => quote + column + quote).join(", ");
    const row = `(${columns.map(() => "?").join(", ")})`;
    const values = Array.from({ length: count }, () => row).join(", ");
    text = `insert into ${quote}${table}${quote} (${names}) values ${values}`;
    if (texts.size >= textsMax) texts.clear();
    texts.set(key, text);
  }
  return text;
}

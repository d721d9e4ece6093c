import type { SelectQueryBuilder } from "kysely";
import { sql } from "kysely";
import type { Database } from "#database/schema/tables.ts";

/** One line of an export: a type and its fields. */
export type ExportLine = { readonly type: string } & Readonly<Record<string, unknown>>;

const pageSize = 200;

/** Pages of a query's rows, in the order of a unique column. */
export async function* rowPages<TB extends keyof Database, Row extends object>(
  query: SelectQueryBuilder<Database, TB, Row>,
  column: string & keyof Row = "id" as string & keyof Row,
  size = pageSize,
): AsyncGenerator<readonly Row[]> {
  const ordered = query.orderBy(sql.ref(column)).limit(size);
  for (let page = await ordered.execute(); ;) {
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < size) return;
    page = await ordered.where(sql<boolean>`${sql.ref(column)} > ${last[column]}`).execute();
  }
}

/** The rows of a query, one line each. */
export async function* rowLines<TB extends keyof Database, Row extends object>(
  type: string,
  query: SelectQueryBuilder<Database, TB, Row>,
  column?: string & keyof Row,
  size?: number,
): AsyncGenerator<ExportLine> {
  for await (const rows of rowPages(query, column, size)) for (const row of rows) yield line(type, row);
}

export const iso = (at: number): string => new Date(at).toISOString();

const isTime = (name: string): boolean => /(_at|_since|_until|^at|^window_start)$/.test(name);
/** Columns that hold JSON. */
const json: ReadonlySet<string> = new Set([
  "attributes",
  "audience",
  "config",
  "events",
  "filled",
  "forwarded",
  "metadata",
  "payload",
  "refers_to",
  "skills",
  "sources",
]);

/** A row in readable form: times as ISO 8601, JSON parsed. */
export function line(type: string, row: object): ExportLine {
  const fields = Object.entries(row).map(([name, value]: [string, unknown]) => {
    if (typeof value === "number" && isTime(name)) return [name, iso(value)] as const;
    if (typeof value === "string" && json.has(name)) return [name, JSON.parse(value) as unknown] as const;
    return [name, value] as const;
  });
  return { type, ...(Object.fromEntries(fields) as Readonly<Record<string, unknown>>) };
}

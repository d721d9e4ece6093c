import type { RawBuilder } from "kysely";
import { sql } from "kysely";

/** The longest time that a list may take of the server. */
export const listMsMax = 2_000;

/** A `select` that the server ends after this time. MariaDB reads the first comment, MySQL the second. */
export function withinTime<T>(query: RawBuilder<T>, ms: number = listMsMax): RawBuilder<T> {
  return sql<T>`/*M!100100 set statement max_statement_time = ${sql.lit(ms / 1_000)} for */
    select /*+ MAX_EXECUTION_TIME(${sql.lit(Math.ceil(ms))}) */ * from (${query}) as timed`;
}

/** True for the error of a statement that took longer. */
export function isOverTime(error: unknown): boolean {
  const { errno } = (error ?? {}) as { readonly errno?: unknown };
  // ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL. InnoDB's full text, when it is told to end or has found
  // more than its memory limit, answers 188 instead.
  return errno === 1969 || errno === 3024 || errno === 188;
}

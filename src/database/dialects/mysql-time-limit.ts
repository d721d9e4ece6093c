import type { RawBuilder } from "kysely";
import { sql } from "kysely";

/** Time limit for lists. */
export const listMsMax = 2_000;

/** Lets the server end a `select` after this time. MariaDB reads the first comment, MySQL the second. */
export function withinTime<T>(query: RawBuilder<T>, ms: number = listMsMax): RawBuilder<T> {
  return sql<T>`/*M!100100 set statement max_statement_time = ${sql.lit(ms / 1_000)} for */
    select /*+ MAX_EXECUTION_TIME(${sql.lit(Math.ceil(ms))}) */ * from (${query}) as timed`;
}

/** Whether a statement failed because of its time limit. */
export function isOverTime(error: unknown): boolean {
  const { errno } = (error ?? {}) as { readonly errno?: unknown };
  // ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL. InnoDB's full text answers 188 when it is interrupted or
  // exceeds its memory limit.
  return errno === 1969 || errno === 3024 || errno === 188;
}

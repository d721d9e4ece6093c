import type { RawBuilder } from "kysely";
import { sql } from "kysely";

/** A `select` that the server ends after two seconds. MariaDB reads the first comment, MySQL the second. */
export function withinTime<T>(query: RawBuilder<T>): RawBuilder<T> {
  return sql<T>`/*M!100100 set statement max_statement_time = 2 for */ select /*+ MAX_EXECUTION_TIME(2000) */ * from (${query}) as timed`;
}

/** True for the error of a statement that took longer. */
export function isOverTime(error: unknown): boolean {
  const { errno } = (error ?? {}) as { readonly errno?: unknown };
  // ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL.
  return errno === 1969 || errno === 3024;
}

import type { Kysely } from "kysely";
import { MysqlAdapter } from "kysely";

export type Dialect = "sqlite" | "mysql";

export function dialectOf<Tables>(db: Kysely<Tables>): Dialect {
  return db.getExecutor().adapter instanceof MysqlAdapter ? "mysql" : "sqlite";
}

import type { DatabaseSearch } from "./contract.ts";
import type { Store } from "#database/contract.ts";
import { createMysqlSearch } from "./mysql.ts";
import { createSqliteSearch } from "./sqlite.ts";

/** Full-text search in the conversations' own database. */
export function createConversationSearch(store: Pick<Store, "dialect" | "read">): DatabaseSearch {
  switch (store.dialect) {
    case "sqlite":
      return createSqliteSearch(store.read);
    case "mysql":
      return createMysqlSearch(store.read);
  }
}

import type { ConversationSearch, Store } from "#engine/ports.ts";
import { createMysqlSearch } from "./conversation-search-mysql.ts";
import { createSqliteSearch } from "./conversation-search-sqlite.ts";

/** Full text in the database that the conversations are in. */
export function createConversationSearch(store: Pick<Store, "dialect" | "read">): ConversationSearch {
  switch (store.dialect) {
    case "sqlite":
      return createSqliteSearch(store.read);
    case "mysql":
      return createMysqlSearch(store.read);
  }
}

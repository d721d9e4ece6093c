import type { ConversationFilter, ConversationSearch, ListPosition } from "./contract.ts";
import type { Store } from "#database/contract.ts";
import { createMysqlSearch } from "./mysql.ts";
import { createSqliteSearch } from "./sqlite.ts";

/** A search that can also judge what another one has found. */
export interface DatabaseSearch extends ConversationSearch {
  /** Those of these conversations that `find` would give, in any order. Looks at them alone, by their keys. */
  confirm(
    filter: ConversationFilter,
    text: string,
    before: ListPosition | undefined,
    conversationIds: readonly string[],
  ): Promise<readonly ListPosition[]>;
}

/** Full text in the database that the conversations are in. */
export function createConversationSearch(store: Pick<Store, "dialect" | "read">): DatabaseSearch {
  switch (store.dialect) {
    case "sqlite":
      return createSqliteSearch(store.read);
    case "mysql":
      return createMysqlSearch(store.read);
  }
}

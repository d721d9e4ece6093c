import { CompiledQuery, createQueryId } from "kysely";
import type { KyselyPlugin, QueryId, RootOperationNode } from "kysely";
import type { Reader, Store } from "#database/contract.ts";
import type { ListStore } from "#database/queries/conversation-list.ts";

/** A store that records its queries, so that a test can have the database explain the same queries. */
export function recordingStore(store: ListStore): { readonly store: ListStore; taken(): readonly CompiledQuery[] } {
  const built = new WeakMap<QueryId, RootOperationNode>();
  let taken: CompiledQuery[] = [];
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      built.set(queryId, node);
      return node;
    },
    // Compiled queries that are never run, such as prepared statements, do not get here.
    transformResult: async ({ result, queryId }) => {
      const node = built.get(queryId);
      if (node !== undefined) taken.push(store.read.getExecutor().compileQuery(node, createQueryId()));
      return result;
    },
  };
  return {
    store: {
      dialect: store.dialect,
      read: store.read.withPlugin(recorder),
      select(query) {
        taken.push(query);
        return store.select(query);
      },
    },
    taken() {
      const all = taken;
      taken = [];
      return all;
    },
  };
}

/** Lists the steps in the database's plan of this query that cost more than the page; empty if there are none. */
export async function costsOf(
  store: Pick<Store, "dialect" | "read">,
  query: CompiledQuery,
): Promise<readonly string[]> {
  return store.dialect === "sqlite" ? sqliteCosts(store.read, query) : mysqlCosts(store.read, query);
}

interface SqlitePlanRow {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

// Subqueries that hold one page: their limit bounds them.
const bounded = /^SCAN (?:p|u|b|t|timed|\(subquery-\d+\))$/;

async function sqliteCosts(read: Reader, query: CompiledQuery): Promise<string[]> {
  const { rows } = await read.executeQuery<SqlitePlanRow>(
    CompiledQuery.raw(`explain query plan ${query.sql}`, [...query.parameters]),
  );
  const scans = rows.filter(
    ({ detail }) => detail.startsWith("SCAN ") && !bounded.test(detail) && !detail.includes(" VIRTUAL TABLE INDEX "),
  );
  const sorts = rows.filter(
    ({ parent, detail }) =>
      detail.startsWith("USE TEMP B-TREE") &&
      rows.some(
        (other) => other.parent === parent && /^(?:SCAN|SEARCH) /.test(other.detail) && !bounded.test(other.detail),
      ),
  );
  const guesses = rows.filter(({ detail }) => detail.includes("AUTOMATIC") || detail.includes("MULTI-INDEX"));
  const equalities = [...query.sql.matchAll(/"r"\."(\w+)" = \?/g)].map(([, column = ""]) => column);
  const filtered = rows.filter(
    ({ detail }) =>
      detail.startsWith("SEARCH r ") &&
      // A customer has few conversations, which are read completely.
      !detail.includes("conversations_email") &&
      equalities.some((column) => !detail.includes(`${column}=?`)),
  );
  return [...new Set([...scans, ...sorts, ...guesses, ...filtered])].map(({ detail }) => detail);
}

interface MysqlPlanRow {
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
  readonly Extra: string | null;
}

async function mysqlCosts(read: Reader, query: CompiledQuery): Promise<string[]> {
  const text = query.sql.replace(/^\s*\/\*M!.*?\*\//, "");
  // The format that MySQL and MariaDB share; MySQL 9 has another default.
  const explain = CompiledQuery.raw(`explain format=traditional ${text}`, [...query.parameters]);
  const { rows } = await read.executeQuery<MysqlPlanRow>(explain);
  return rows
    .filter(({ table, type, Extra }) => {
      // Derived tables hold one page, bounded by its limit; a full-text search is bounded by its timeout.
      if (table === null || table.startsWith("<") || type === "fulltext") return false;
      return type === "ALL" || type === "index" || /filesort|temporary|join buffer/.test(Extra ?? "");
    })
    .map((row) => `${row.table}: ${row.type} by ${row.key}, ${row.Extra}`);
}

import { CompiledQuery, createQueryId } from "kysely";
import type { KyselyPlugin, RootOperationNode } from "kysely";
import type { Reader, Store } from "#engine/ports.ts";

/** A reader that keeps what it was asked, so that a test can have the database explain the very same queries. */
export function recordingReader(store: Pick<Store, "read">): {
  readonly read: Reader;
  taken(): readonly CompiledQuery[];
} {
  let nodes: RootOperationNode[] = [];
  const recorder: KyselyPlugin = {
    transformQuery({ node }) {
      nodes.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return {
    read: store.read.withPlugin(recorder),
    taken() {
      const taken = nodes.map((node) => store.read.getExecutor().compileQuery(node, createQueryId()));
      nodes = [];
      return taken;
    },
  };
}

/** What in the database's plan of this query costs more than the page does; empty when nothing. */
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

// Subqueries that are pages themselves, and so bounded by their limit.
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
      // One customer's conversations are few: they are read whole.
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
  const { rows } = await read.executeQuery<MysqlPlanRow>(CompiledQuery.raw(`explain ${text}`, [...query.parameters]));
  return rows
    .filter(({ table, type, Extra }) => {
      // Derived tables are pages themselves, bounded by their limit; a full-text search by its time.
      if (table === null || table.startsWith("<") || type === "fulltext") return false;
      return type === "ALL" || type === "index" || /filesort|temporary|join buffer/.test(Extra ?? "");
    })
    .map((row) => `${row.table}: ${row.type} by ${row.key}, ${row.Extra}`);
}

import type { CompiledQuery, QueryResult } from "kysely";
import type { Reader, Tx } from "#database/contract.ts";

/** Runs a compiled statement on the connection of a transaction, at once. */
export type RunNow = <R>(query: CompiledQuery<R>) => QueryResult<R>;

const runs = new WeakMap<Reader, RunNow>();

/** From now on {@link execute} runs the statements of this transaction so, where the database is in this process. */
export function runsNow(tx: Tx, run: RunNow): void {
  runs.set(tx, run);
}

/**
 * Runs a statement that is compiled already. kysely takes each through queues, with a dozen promises, that a connection
 * which is used by one statement after the other does not need: a quarter of all that a message left to be collected.
 */
export async function execute<R>(db: Tx | Reader, query: CompiledQuery<R>): Promise<QueryResult<R>> {
  const run = runs.get(db);
  return run === undefined ? db.executeQuery(query) : run(query);
}

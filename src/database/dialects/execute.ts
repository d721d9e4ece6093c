import type { CompiledQuery, QueryResult } from "kysely";
import type { Reader, Tx } from "#database/contract.ts";

/** Runs a compiled statement on the connection of a transaction, at once. */
export type RunNow = <R>(query: CompiledQuery<R>) => QueryResult<R>;

const runs = new WeakMap<Reader, RunNow>();

/** Makes {@link execute} run the statements of this transaction by `run`, where the database is in this process. */
export function runsNow(tx: Tx, run: RunNow): void {
  runs.set(tx, run);
}

/**
 * Runs a compiled statement. Kysely's queues and promises for each statement made a quarter of a message's garbage, and a
 * connection that runs one statement after the other does not need them.
 */
export async function execute<R>(db: Tx | Reader, query: CompiledQuery<R>): Promise<QueryResult<R>> {
  const run = runs.get(db);
  return run === undefined ? db.executeQuery(query) : run(query);
}

import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Store, Tx } from "#database/contract.ts";

/** Most rows of one transaction, to keep locks short. */
const batchMax = 500;

export interface DeleteBatch {
  readonly table: string;
  /** A column of times. Needs an index that begins with it, unless the table is small. */
  readonly column: string;
  /** Rows older than this are deleted. */
  readonly before: number;
  readonly and?: RawBuilder<unknown>;
}

/** Deletes the oldest rows. Returns true if there may be more. */
async function deleteBatch(tx: Tx, { table, column, before, and = sql`1 = 1` }: DeleteBatch): Promise<boolean> {
  const at = sql.ref(column);
  const { rows } = await sql<{ readonly at: number }>`
    select ${at} as at from ${sql.table(table)} where ${at} < ${before} and ${and}
    order by ${at} limit 1 offset ${sql.lit(batchMax - 1)}`.execute(tx);
  const [full] = rows;
  const until = full === undefined ? sql`${at} < ${before}` : sql`${at} <= ${full.at}`;
  await sql`delete from ${sql.table(table)} where ${until} and ${and}`.execute(tx);
  return full !== undefined;
}

/** Deletes all older rows, one batch per transaction. */
export async function deleteInBatches(store: Store, what: DeleteBatch, signal: AbortSignal): Promise<void> {
  while (await store.write((tx) => deleteBatch(tx, what))) signal.throwIfAborted();
}

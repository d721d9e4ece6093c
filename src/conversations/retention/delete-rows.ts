import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Store, Tx } from "#database/contract.ts";

/** Removes what `next` returns until it returns nothing, with one transaction for each batch. `progress`: rows so far. */
export async function removeInBatches<T>(
  store: Store,
  signal: AbortSignal,
  next: () => Promise<readonly T[]>,
  remove: (tx: Tx, batch: readonly T[]) => Promise<unknown>,
  progress?: (removed: number) => void,
): Promise<void> {
  for (let removed = 0; ;) {
    signal.throwIfAborted();
    const batch = await next();
    if (batch.length === 0) return;
    await store.write((tx) => remove(tx, batch));
    removed += batch.length;
    progress?.(removed);
  }
}

/** Most rows that one transaction deletes, to keep locks short. */
const batchMax = 500;

export interface ExpiredRows {
  readonly table: string;
  /** A column of times. Needs an index that begins with it, unless the table is small. */
  readonly column: string;
  /** Rows older than this are deleted. */
  readonly before: number;
  readonly and?: RawBuilder<unknown>;
}

/** Deletes the oldest rows. Returns true if there may be more. */
async function deleteBatch(tx: Tx, { table, column, before, and = sql`1 = 1` }: ExpiredRows): Promise<boolean> {
  const at = sql.ref(column);
  const { rows } = await sql<{ readonly at: number }>`
    select ${at} as at from ${sql.table(table)} where ${at} < ${before} and ${and}
    order by ${at} limit 1 offset ${sql.lit(batchMax - 1)}`.execute(tx);
  const [full] = rows;
  const until = full === undefined ? sql`${at} < ${before}` : sql`${at} <= ${full.at}`;
  await sql`delete from ${sql.table(table)} where ${until} and ${and}`.execute(tx);
  return full !== undefined;
}

/** Deletes all expired rows, one batch per transaction. */
export async function deleteExpired(store: Store, expired: ExpiredRows, signal: AbortSignal): Promise<void> {
  while (await store.write((tx) => deleteBatch(tx, expired))) signal.throwIfAborted();
}

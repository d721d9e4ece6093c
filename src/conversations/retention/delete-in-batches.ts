import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Store, Tx } from "#database/contract.ts";

/** Rows that one transaction deletes at most, so that nobody waits long for it. */
const sweepMax = 500;

export interface Sweep {
  readonly table: string;
  /** A time, with an index that begins with it unless the table is small. */
  readonly column: string;
  /** What is older goes. */
  readonly before: number;
  readonly and?: RawBuilder<unknown>;
}

/** Deletes the oldest rows; true when there may be more. */
async function sweepSome(tx: Tx, { table, column, before, and = sql`1 = 1` }: Sweep): Promise<boolean> {
  const at = sql.ref(column);
  const { rows } = await sql<{ readonly at: number }>`
    select ${at} as at from ${sql.table(table)} where ${at} < ${before} and ${and}
    order by ${at} limit 1 offset ${sql.lit(sweepMax - 1)}`.execute(tx);
  const [full] = rows;
  const until = full === undefined ? sql`${at} < ${before}` : sql`${at} <= ${full.at}`;
  await sql`delete from ${sql.table(table)} where ${until} and ${and}`.execute(tx);
  return full !== undefined;
}

/** Deletes all that is older, a step at a time. */
export async function sweep(store: Store, what: Sweep, signal: AbortSignal): Promise<void> {
  while (await store.write((tx) => sweepSome(tx, what))) signal.throwIfAborted();
}

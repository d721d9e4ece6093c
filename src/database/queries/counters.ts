import { sql } from "kysely";
import type { Reader, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";

/** A counter of the time window that begins at `windowStart`, in epoch milliseconds. */
export interface Counter {
  readonly name: string;
  readonly windowStart: number;
}

/**
 * Increments the counters and returns their new values, in the same order. The rows stay locked until the end of the
 * transaction, so counters of one key must always come in the same order.
 */
export async function countUp(tx: Tx, counters: readonly Counter[], by = 1): Promise<readonly number[]> {
  const insert = tx
    .insertInto("counters")
    .values(counters.map(({ name, windowStart }) => ({ name, window_start: windowStart, value: by })));
  if (dialectOf(tx) === "mysql") {
    await insert.onDuplicateKeyUpdate({ value: sql<number>`value + ${by}` }).execute();
  } else {
    await insert
      .onConflict((on) =>
        on.columns(["name", "window_start"]).doUpdateSet((eb) => ({ value: eb("counters.value", "+", by) })),
      )
      .execute();
  }
  const rows = await tx
    .selectFrom("counters")
    .select(["name", "value"])
    .where((eb) => eb.or(counters.map(({ name, windowStart }) => eb.and({ name, window_start: windowStart }))))
    .execute();
  const values = counters.map(({ name }) => rows.find((row) => row.name === name)?.value ?? 0);
  // The first count of a window deletes the counter's earlier windows.
  for (const [i, { name, windowStart }] of counters.entries()) {
    if (values[i] === by) {
      await tx.deleteFrom("counters").where("name", "=", name).where("window_start", "<", windowStart).execute();
    }
  }
  return values;
}

/** Reverts {@link countUp}. */
export async function countDown(tx: Tx, counters: readonly Counter[], by = 1): Promise<void> {
  for (const { name, windowStart } of counters) {
    await tx
      .updateTable("counters")
      .set((eb) => ({ value: eb("value", "-", by) }))
      .where("name", "=", name)
      .where("window_start", "=", windowStart)
      .where("value", ">=", by)
      .execute();
  }
}

/** The tokens of the language model that a workspace has used in the UTC month of `now`. */
export async function modelTokensUsed(db: Reader, workspaceId: string, now: number): Promise<number> {
  const { name, windowStart } = modelTokens(workspaceId, now);
  const row = await db
    .selectFrom("counters")
    .select("value")
    .where("name", "=", name)
    .where("window_start", "=", windowStart)
    .executeTakeFirst();
  return row?.value ?? 0;
}

/** Returns the sum of the month. */
export async function addModelTokens(tx: Tx, workspaceId: string, tokens: number, now: number): Promise<number> {
  const [sum = 0] = await countUp(tx, [modelTokens(workspaceId, now)], tokens);
  return sum;
}

function modelTokens(workspaceId: string, now: number): Counter {
  const date = new Date(now);
  return {
    name: `model_tokens:${workspaceId}`,
    windowStart: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
  };
}

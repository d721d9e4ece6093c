import { sql } from "kysely";
import type { OpenStore } from "#database/open.ts";

/** Whether a write waits: in SQLite for the single writer, in MySQL for a row lock. */
export async function isWriteWaiting(store: OpenStore): Promise<boolean> {
  if (store.dialect === "sqlite") return store.load().writesWaiting > 0;
  // The table is renewed only if nobody has read it for 100 ms.
  await new Promise((resolve) => setTimeout(resolve, 150));
  // Statements that run without a lock, such as heartbeats, are not waiting.
  const { rows } = await sql`select trx.trx_id from information_schema.innodb_trx as trx
    inner join information_schema.processlist as process on process.id = trx.trx_mysql_thread_id
    where process.db = database() and trx.trx_state = 'LOCK WAIT'`.execute(store.read);
  return rows.length > 0;
}

import { sql } from "kysely";
import type { OpenStore } from "#database/open.ts";

/** Whether a write waits: in SQLite for the single writer, in MySQL for a row lock. */
export async function isWriteWaiting(store: OpenStore): Promise<boolean> {
  if (store.dialect === "sqlite") return store.load().writesWaiting > 0;
  const { rows } = await sql`select id from information_schema.processlist
    where db = database() and (info like 'update %' or info like 'select % for update')`.execute(store.read);
  return rows.length > 0;
}

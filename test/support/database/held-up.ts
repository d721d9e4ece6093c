import { sql } from "kysely";
import type { OpenStore } from "#database/open.ts";

/** Whether a write waits for another: for its turn, or, where several write at a time, for a row. */
export async function isWriteHeldUp(store: OpenStore): Promise<boolean> {
  if (store.dialect === "sqlite") return store.load().writesWaiting > 0;
  const { rows } = await sql`select id from information_schema.processlist
    where db = database() and (info like 'update %' or info like 'select % for update')`.execute(store.read);
  return rows.length > 0;
}

import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";

/** The parts of SQLite's search index are merged a little with everything that is written into it, not many at once. */
export const searchMerging: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  if (dialectOf(db) !== "sqlite") return;
  await sql`insert into conversation_fts (conversation_fts, rank) values ('automerge', 0)`.execute(db);
  // Conversations are rewritten all the time: parts are merged for their removed rows only when there are many.
  await sql`insert into conversation_fts (conversation_fts, rank) values ('deletemerge', 40)`.execute(db);
}

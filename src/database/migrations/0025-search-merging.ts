import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";

/** Merges the segments of SQLite's search index a little with every write, instead of many at once. */
export const searchMerging: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  if (dialectOf(db) !== "sqlite") return;
  await sql`insert into conversation_fts (conversation_fts, rank) values ('automerge', 0)`.execute(db);
  // Conversations are rewritten all the time, so segments are merged for their removed rows only when there are many.
  await sql`insert into conversation_fts (conversation_fts, rank) values ('deletemerge', 40)`.execute(db);
}

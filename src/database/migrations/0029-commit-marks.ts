import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the last transaction of each process, for a COMMIT whose answer is lost. */
export const commitMarks: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `create table commit_marks (
      id $id not null primary key,
      value $int not null,
      written_at $time not null
    ) $engine`,
  );
}

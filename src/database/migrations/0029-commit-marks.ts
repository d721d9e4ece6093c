import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Where the answer to a COMMIT can get lost, on a server, each process notes which transaction was its last. */
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

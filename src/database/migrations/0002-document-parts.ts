import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";
import { apply } from "./statements.ts";

/** Stores documents' bytes in several rows, since a database limits a statement to a few megabytes. */
export const documentParts: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  if (dialectOf(db) === "mysql") {
    await apply(
      db,
      `alter table document_bodies add column part $int not null default 0,
        drop primary key, add primary key (document_id, part)`,
    );
    return;
  }
  await apply(
    db,
    `create table document_body_parts (
      document_id $id not null, part $int not null, body $blob not null, primary key (document_id, part));
    insert into document_body_parts (document_id, part, body) select document_id, 0, body from document_bodies;
    drop table document_bodies;
    alter table document_body_parts rename to document_bodies`,
  );
}

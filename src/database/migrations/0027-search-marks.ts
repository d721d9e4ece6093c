import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Up to which write the collection of a workspace is known to be complete. */
export const searchMarks: Migration = {
  up: (db) => apply(db, "alter table search_collections add column written $int not null default 0"),
};

import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the number of the last write up to which a workspace's collection is known to be complete. */
export const searchMarks: Migration = {
  up: (db) => apply(db, "alter table search_collections add column written $int not null default 0"),
};

import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the version that a process runs. Processes of earlier versions leave it null. */
export const processVersions: Migration = {
  up: (db) => apply(db, `alter table processes add column version $short`),
};

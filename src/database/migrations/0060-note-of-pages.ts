import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the note of a website's page that was read only in part. */
export const noteOfPages: Migration = {
  up: (db) => apply(db, `alter table crawl_pages add column note $text`),
};

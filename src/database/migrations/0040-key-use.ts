import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds when an API key was used last. */
export const keyUse: Migration = {
  up: (db) => apply(db, "alter table api_keys add column last_used_at $time"),
};

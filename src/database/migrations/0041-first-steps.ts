import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds when the first steps were dismissed from the dashboard's overview. */
export const firstSteps: Migration = {
  up: (db) => apply(db, "alter table workspaces add column first_steps_dismissed_at $time"),
};

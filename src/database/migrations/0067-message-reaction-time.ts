import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the time at which the reactions to a message last changed. */
export const messageReactionTime: Migration = {
  up: (db) => apply(db, `alter table messages add column reacted_at $time`),
};

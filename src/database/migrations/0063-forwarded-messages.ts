import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the author of the words that a customer forwards. */
export const forwardedMessages: Migration = {
  up: (db) => apply(db, `alter table messages add column forwarded $text`),
};

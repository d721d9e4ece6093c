import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the earlier message that a customer's message answers on the platform. */
export const messageReferences: Migration = {
  up: (db) => apply(db, `alter table messages add column refers_to $text`),
};

import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the payload of the link that led a customer to the bot, which their next message takes over. */
export const pendingStart: Migration = {
  up: (db) => apply(db, `alter table contacts add column pending_start $key`),
};

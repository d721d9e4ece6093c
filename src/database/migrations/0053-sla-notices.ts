import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the SLA's events that a conversation has had, so that each happens once per target. */
export const slaNotices: Migration = {
  up: (db) => apply(db, `alter table conversations add column sla_notices $text`),
};

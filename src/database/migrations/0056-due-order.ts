import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";
import { apply } from "./statements.ts";

/** Lets the inbox read waiting conversations of one priority in the order in which their target is due. */
export const dueOrder: Migration = {
  up: (db) =>
    apply(
      db,
      `create index conversations_due on conversations (workspace_id, status, sla_state, priority, waiting_since, id);
      drop index conversations_urgency${dialectOf(db) === "mysql" ? " on conversations" : ""}`,
    ),
};

import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds who manages a team, and the addresses that join it once an agent has them. */
export const declaredTeams: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table teams add column managed_by $short not null default 'dashboard';
      alter table teams add column expected_agents $text`,
    ),
};

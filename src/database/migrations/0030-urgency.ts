import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the inbox's order by urgency, which each agent can choose. */
export const urgency: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table agents add column waiting_order $short not null default 'urgency';
    alter table conversations add column waiting_since $time
      generated always as (sla_running_since - sla_elapsed_ms) virtual;
    create index conversations_urgency on conversations (workspace_id, status, sla_state, waiting_since, id)`,
  );
}

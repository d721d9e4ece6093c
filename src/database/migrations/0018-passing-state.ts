import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds an expiry to the state of adapters, such as that of a phone call. */
export const passingState: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table account_state add column expires_at $time;
    create index account_state_expires on account_state (expires_at)`,
  );
}

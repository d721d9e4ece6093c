import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** What adapters keep for an account for a while only, such as of a telephone call. */
export const passingState: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table account_state add column expires_at $time;
    create index account_state_expires on account_state (expires_at)`,
  );
}

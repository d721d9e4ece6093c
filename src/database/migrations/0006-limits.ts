import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Which process answers an idempotent request, what the request is known by, and for whom an answer was made. */
export const limits: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table idempotency add column process_id $id;
    alter table idempotency add column work_id $id;
    alter table messages add column audience $text`,
  );
}

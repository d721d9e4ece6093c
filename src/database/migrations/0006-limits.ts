import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the process of an idempotent request, the id of its work, and the audience of an answer. */
export const limits: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table idempotency add column process_id $id;
    alter table idempotency add column work_id $id;
    alter table messages add column audience $text`,
  );
}

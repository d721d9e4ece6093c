import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Adds merges of contacts. A merge only points one contact at the other, and a moved conversation keeps its original
 * contact, so that a merge can be undone. Existing contacts represent themselves.
 */
export const people: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table contacts add column merged_into $id;
    alter table contacts add column root_id $id;
    update contacts set root_id = id where root_id is null;
    create index contacts_root on contacts (root_id);
    alter table conversations add column own_contact_id $id;
    create table contact_merges (
      id $id not null primary key, workspace_id $id not null, from_contact_id $id not null, into_contact_id $id not null,
      reason $short not null, filled $text not null, actor_type $short not null, actor_id $key, created_at $time not null,
      undone_at $time
    ) $engine;
    create index contact_merges_workspace on contact_merges (workspace_id, id);
    create index contact_merges_from on contact_merges (from_contact_id, id);
    create index contact_merges_into on contact_merges (into_contact_id, id)`,
  );
}

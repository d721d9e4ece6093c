import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the threads of conversations at the agents' desk, and their posts. */
export const desk: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `
create table desk_threads (
  conversation_id $id not null primary key, workspace_id $id not null, account_id $id, channel $key, external_id $key,
  state $short not null, mirrored_seq $int not null, card_hash $id, opened_at $time not null
) $engine;
create index desk_threads_external on desk_threads (account_id, external_id);

create table desk_posts (
  id $id not null primary key, conversation_id $id not null, account_id $id not null, direction $short not null,
  kind $short not null, ref_id $id, part $int not null, state $short not null, external_id $key, parked $text,
  mark $short, created_at $time not null
) $engine;
create index desk_posts_conversation on desk_posts (conversation_id, ref_id);
create index desk_posts_external on desk_posts (account_id, external_id)
`,
  );
}

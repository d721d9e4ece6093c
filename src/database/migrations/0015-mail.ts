import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Adds the state of adapters, further links to a conversation, and the account and thread of a part that is not sent to
 * the conversation's own thread.
 */
export const mail: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `create table account_state (
      account_id $id not null, name $key not null, value $text not null, updated_at $time not null,
      primary key (account_id, name)
    ) $engine;
    create table conversation_links (
      account_id $id not null, kind $short not null, name $key not null, conversation_id $id not null,
      primary key (account_id, kind, name)
    ) $engine;
    create index conversation_links_conversation on conversation_links (conversation_id);
    alter table deliveries add column thread $key;
    alter table deliveries add column unless_seen $id;
    alter table conversations add column via_account_id $id`,
  );
}

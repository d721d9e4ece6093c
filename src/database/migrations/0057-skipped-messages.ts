import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the messages that an account has skipped on purpose, with the reason, for agents. */
export const skippedMessages: Migration = {
  up: (db) =>
    apply(
      db,
      `create table skipped_messages (
        account_id $id not null, external_id $key not null, received_at $time not null, sender $key, title $text not null,
        reason $text not null, primary key (account_id, external_id)
      ) $engine;
      create index skipped_messages_received on skipped_messages (account_id, received_at);
      create index skipped_messages_expiry on skipped_messages (received_at)`,
    ),
};

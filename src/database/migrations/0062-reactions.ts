import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the reactions to messages, of customers and of agents. */
export const reactions: Migration = {
  up: (db) =>
    apply(
      db,
      `create table reactions (
        message_id $id not null, role $short not null, author $key not null, emoji $short not null,
        conversation_id $id not null, author_name $text, at $time not null,
        primary key (message_id, role, author, emoji)
      ) $engine;
      create index reactions_conversation on reactions (conversation_id)`,
    ),
};

import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds files of messages. Their bytes are stored outside of the database. */
export const files: Migration = {
  up: (db) =>
    apply(
      db,
      `create table attachments (
        id $id not null primary key, workspace_id $id not null, account_id $id not null, conversation_id $id,
        message_id $id, position $int not null, name $text not null, media_type $text not null, bytes $int,
        state $short not null, reason $text, ref $text, sha256 $id, uploaded_by $text,
        group_key $id, created_at $time not null, stored_at $time
      ) $engine;
      create index attachments_group on attachments (account_id, group_key);
      create index attachments_message on attachments (message_id, position);
      create index attachments_conversation on attachments (conversation_id);
      create index attachments_workspace on attachments (workspace_id, id);
      alter table messages add column files $int;
      alter table conversations add column unreachable $text`,
    ),
};

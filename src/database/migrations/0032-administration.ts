import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds access tokens of administrators, and which settings the configuration file declares. */
export const administration: Migration = {
  up: (db) =>
    apply(
      db,
      `create table access_tokens (
        id $id not null primary key, agent_id $id not null, workspace_id $id not null, name $key not null,
        hash $id not null, hint $short not null, scope $short not null, expires_at $time, last_used_at $time,
        created_at $time not null
      ) $engine;
      create unique index access_tokens_hash on access_tokens (hash);
      create index access_tokens_agent on access_tokens (agent_id);
      create index access_tokens_workspace on access_tokens (workspace_id, id);
      alter table workspaces add column declared_settings $text`,
    ),
};

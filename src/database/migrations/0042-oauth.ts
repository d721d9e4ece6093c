import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds OAuth clients, which are keys with a secret, and their tokens. */
export const oauth: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table api_keys add column client_secret $id;
      create table oauth_tokens (
        hash $id not null primary key, key_id $id not null, expires_at $time not null, created_at $time not null
      ) $engine;
      create index oauth_tokens_key on oauth_tokens (key_id);
      create index oauth_tokens_expiry on oauth_tokens (expires_at)`,
    ),
};

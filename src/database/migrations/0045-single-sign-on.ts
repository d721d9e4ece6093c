import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds who agents are at the provider that they sign in through. */
export const singleSignOn: Migration = {
  up: (db) =>
    apply(
      db,
      `create table agent_identities (
        agent_id $id not null primary key, workspace_id $id not null, issuer $text not null, subject_hash $id not null,
        refused_at $time, created_at $time not null
      ) $engine;
      create unique index agent_identities_subject on agent_identities (workspace_id, subject_hash)`,
    ),
};

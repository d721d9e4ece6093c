import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds how each session began, second factors with recovery codes, and how a workspace's agents sign in. */
export const signIn: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table agent_tokens add column method $short;
      alter table agents add column second_factor $text;
      alter table agents add column second_factor_step $int;
      create table recovery_codes (
        agent_id $id not null, hash $id not null, created_at $time not null, primary key (agent_id, hash)
      ) $engine;
      create table sign_in_settings (
        workspace_id $id not null primary key, second_factor_required $flag not null
      ) $engine`,
    ),
};

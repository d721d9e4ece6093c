import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Adds the data of rules: the time of the last change of status, the time up to which time-based rules were checked,
 * the number of changes by people, and firings. Adds the calls of skills that may be made only once.
 */
export const automation: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table conversations add column status_at $time not null default 0;
      alter table conversations add column rules_until $time not null default 0;
      alter table conversations add column activity $int not null default 0;
      update conversations set status_at = last_message_at where status_at = 0;
      alter table agents add column away $flag not null default 0;
      create table rule_firings (
        conversation_id $id not null, rule $key not null, activity $int not null, day $int not null, count $int not null,
        primary key (conversation_id, rule)
      ) $engine;
      create table rule_turns (
        workspace_id $id not null, rule $key not null, email $key not null, primary key (workspace_id, rule)
      ) $engine;
      create table skill_calls (
        id $id not null primary key, conversation_id $id not null, skill $key not null, result $text,
        created_at $time not null
      ) $engine;
      create index skill_calls_conversation on skill_calls (conversation_id)`,
    ),
};

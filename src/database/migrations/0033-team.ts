import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds teams, invitations of agents, and the devices of sessions. */
export const team: Migration = {
  up: (db) =>
    apply(
      db,
      `create table teams (
        id $id not null primary key, workspace_id $id not null, name $key not null, created_at $time not null
      ) $engine;
      create unique index teams_name on teams (workspace_id, name);
      create table team_members (
        team_id $id not null, agent_id $id not null, primary key (team_id, agent_id)
      ) $engine;
      create index team_members_agent on team_members (agent_id);
      alter table agents add column invited_until $time;
      alter table agents add column last_seen_at $time;
      alter table agent_tokens add column user_agent $text;
      alter table agent_tokens add column network $key;
      alter table agent_tokens add column last_seen_at $time;
      create index agent_tokens_agent on agent_tokens (agent_id)`,
    ),
};

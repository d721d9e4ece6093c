import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds installations of platforms' apps that administrators have begun. */
export const channelInstalls: Migration = {
  up: (db) =>
    apply(
      db,
      `create table channel_installs (
        agent_id $id not null, channel $short not null, account_id $id, config $text not null, credentials $text,
        state_hash $id, session_hash $id not null, expires_at $time not null, primary key (agent_id, channel)
      ) $engine;
      create unique index channel_installs_state on channel_installs (state_hash);
      create index channel_installs_expiry on channel_installs (expires_at)`,
    ),
};

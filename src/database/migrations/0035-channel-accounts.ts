import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Lets the dashboard connect, change, pause and remove accounts, and shows in every process how each of them does. */
export const channelAccounts: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table accounts add column revision $int not null default 1;
      alter table accounts add column paused $flag not null default 0;
      alter table accounts add column removed_at $time;
      alter table accounts add column identity $id;
      create unique index accounts_identity on accounts (identity);
      create table account_status (
        account_id $id not null primary key, revision $int, state $short, state_at $time, error $text, error_at $time,
        last_event_at $time
      ) $engine`,
    ),
};

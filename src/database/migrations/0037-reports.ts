import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the counts of reports. Existing conversations have no `opened_at`, and are counted in the background. */
export const reports: Migration = {
  up: (db) =>
    apply(
      db,
      `create table report_counts (
        workspace_id $id not null, dimension $short not null, day $int not null, name $key not null,
        metric $short not null, value $int not null, primary key (workspace_id, dimension, day, name, metric)
      ) $clustered;
      create table report_changes (id $serial, workspace_id $id not null, changes $text not null) $engine;
      alter table conversations add column opened_at $time;
      alter table conversations add column awaited_since $time;
      alter table conversations add column replied $flag not null default 0;
      alter table conversations add column bot_replied $flag not null default 0;
      alter table conversations add column people_involved $flag not null default 0;
      insert into outbox (lane, kind, payload, due_at, attempts, created_at)
        select 'report-backfill', 'report-backfill', '{}', 0, 0, 0 from conversations limit 1`,
    ),
};

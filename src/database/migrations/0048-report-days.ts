import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Keeps the counts of a name in one row a day and one a month, where each metric had a row of its own. All conversations
 * are counted again in the background.
 */
export const reportDays: Migration = {
  up: (db) =>
    apply(
      db,
      `drop table if exists report_counts;
      create table report_counts (
        workspace_id $id not null, dimension $short not null, period $short not null, day $int not null,
        name $key not null, counts $text not null, primary key (workspace_id, dimension, period, day, name)
      ) $clustered;
      delete from report_changes;
      alter table report_changes add column deleted $flag not null default 0;
      alter table conversations add column resolution $text;
      update conversations set opened_at = null;
      insert into outbox (lane, kind, payload, due_at, attempts, created_at)
        select 'report-backfill', 'report-backfill', '{}', 0, 0, 0 from conversations
        where not exists (select 1 from outbox where kind = 'report-backfill') limit 1`,
    ),
};

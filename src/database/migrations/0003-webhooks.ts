import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds webhook endpoints, events, their queue, and the delivery attempts. */
export const webhooks: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `
alter table conversations add column event_seq $int not null default 0;
alter table webhooks add column managed_by $short not null default 'operator';
alter table webhooks add column previous_secret $text;
alter table webhooks add column previous_until $time;
alter table webhooks add column failing_since $time;
alter table webhooks add column failed_at $time;

create table events (
  position $serial, id $id not null, workspace_id $id not null, type $short not null, subject_id $id not null,
  sequence $int, payload $text not null, created_at $time not null
) $engine;
create unique index events_id on events (id);
create index events_subject on events (subject_id);
create index events_workspace on events (workspace_id, position);
create index events_created on events (created_at);

create table webhook_queue (
  id $serial, endpoint_id $id not null, subject_id $id not null, event_id $id not null, due_at $time not null,
  attempts $int not null, created_at $time not null
) $engine;
create unique index webhook_queue_event on webhook_queue (event_id, endpoint_id);
create index webhook_queue_due on webhook_queue (endpoint_id, due_at, id);
create index webhook_queue_subject on webhook_queue (endpoint_id, subject_id, id);

create table webhook_attempts (
  id $serial, endpoint_id $id not null, event_id $id not null, attempt $int not null, outcome $short not null,
  at $time not null, duration_ms $int not null, status $int, error $text, response $text, next_at $time
) $engine;
create index webhook_attempts_endpoint on webhook_attempts (endpoint_id, id);
create index webhook_attempts_event on webhook_attempts (event_id, endpoint_id);
create index webhook_attempts_at on webhook_attempts (at)
`,
  );
}

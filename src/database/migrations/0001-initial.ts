import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { Dialect } from "#database/dialects/dialect.ts";
import { withTypes } from "./statements.ts";

const statements = `
create table workspaces (
  id $id not null primary key, name $text not null, plan $short not null, identity_secret $text not null,
  settings $text not null, knowledge_version $int not null, created_at $time not null, deleted_at $time
) $engine;

create table api_keys (
  id $id not null primary key, workspace_id $id not null, name $text not null, hash $id not null, hint $short not null,
  limit_minute $int, limit_day $int, expires_at $time, revoked_at $time, created_at $time not null
) $engine;
create unique index api_keys_hash on api_keys (hash);
create index api_keys_workspace on api_keys (workspace_id);

create table agents (
  id $id not null primary key, workspace_id $id not null, email $key not null, name $text not null,
  role $short not null, password $text, created_at $time not null
) $engine;
create unique index agents_email on agents (workspace_id, email);

create table agent_tokens (
  hash $id not null primary key, agent_id $id not null, kind $short not null, expires_at $time not null,
  used_at $time, created_at $time not null
) $engine;
create index agent_tokens_expiry on agent_tokens (expires_at);

create table contacts (
  id $id not null primary key, workspace_id $id not null, name $text, email $text, phone $text, user_id $key,
  attributes $text not null, created_at $time not null, updated_at $time not null
) $engine;
create index contacts_workspace on contacts (workspace_id, id);

create table identities (
  workspace_id $id not null, kind $short not null, value $key not null, contact_id $id not null,
  verified $flag not null, created_at $time not null, primary key (workspace_id, kind, value)
) $engine;
create index identities_contact on identities (contact_id);

create table accounts (
  id $id not null primary key, workspace_id $id not null, channel $short not null, name $key not null,
  config $text not null, credentials $text, managed_by $short not null, enabled $flag not null, created_at $time not null
) $engine;
create unique index accounts_name on accounts (workspace_id, name);

create table conversations (
  id $id not null primary key, workspace_id $id not null, account_id $id not null, channel $short not null,
  context_key $key not null, contact_id $id not null, status $short not null, snoozed_from $short, snoozed_until $time,
  priority $short not null, assigned_to $key, started_at $time not null, last_message_at $time not null,
  resolved_at $time, message_count $int not null, last_seq $int not null, last_customer_seq $int not null,
  settled_seq $int not null, low_streak $int not null, sla_state $short not null, sla_elapsed_ms $int not null,
  sla_running_since $time, timer_at $time, customer_name $text, customer_email $text, customer_email_key $key,
  customer_phone $text, customer_verified $flag not null, previous_conversation_id $id, version $int not null
) $engine;
create unique index conversations_context on conversations (account_id, context_key);
create index conversations_started on conversations (workspace_id, started_at, id);
create index conversations_channel on conversations (workspace_id, channel, started_at, id);
create index conversations_status on conversations (workspace_id, status, started_at, id);
create index conversations_sla on conversations (workspace_id, sla_state, started_at, id);
create index conversations_cube on conversations (workspace_id, channel, status, sla_state, started_at, id);
create index conversations_email on conversations (workspace_id, customer_email_key, started_at, id);
create index conversations_contact on conversations (contact_id, started_at, id);
create index conversations_timer on conversations (workspace_id, timer_at);

create table messages (
  id $id not null primary key, conversation_id $id not null, seq $int not null, role $short not null,
  content $text not null, author_id $key, author_name $text, external_id $key, answers_seq $int, confidence $short,
  sources $text, skills $text, tokens_used $int, metadata $text, created_at $time not null, edited_at $time,
  deleted_at $time
) $engine;
create unique index messages_seq on messages (conversation_id, seq);
create index messages_external on messages (conversation_id, external_id);

create table conversation_tags (
  workspace_id $id not null, tag $key not null, conversation_id $id not null, started_at $time not null,
  channel $short not null, status $short not null, sla_state $short not null,
  primary key (conversation_id, tag)
) $engine;
create index tags_started on conversation_tags (workspace_id, tag, started_at, conversation_id);
create index tags_cube on conversation_tags
  (workspace_id, tag, channel, status, sla_state, started_at, conversation_id);

create table notes (
  id $id not null primary key, conversation_id $id not null, content $text not null, author $key not null,
  created_at $time not null
) $engine;
create index notes_conversation on notes (conversation_id, id);

create table audit (
  id $id not null primary key, workspace_id $id not null, conversation_id $id, action $short not null,
  actor_type $short not null, actor_id $key, actor_name $text, from_value $text, to_value $text, detail $text,
  created_at $time not null
) $engine;
create index audit_conversation on audit (conversation_id, id);
create index audit_workspace on audit (workspace_id, id);

create table documents (
  id $id not null primary key, workspace_id $id not null, source $short not null, title $text not null, url $text,
  origin_key $id not null, media_type $key not null, status $short not null, error $text, audience $text not null,
  content_hash $id, chunks $int not null, pages $int not null, indexed_version $int not null,
  created_at $time not null, indexed_at $time
) $engine;
create unique index documents_origin on documents (workspace_id, origin_key);
create index documents_status on documents (workspace_id, status, created_at, id);
create index documents_created on documents (workspace_id, created_at, id);

create table document_bodies (document_id $id not null primary key, body $blob not null) $engine;

create table chunks (
  id $id not null primary key, workspace_id $id not null, document_id $id not null, version $int not null,
  position $int not null, title $text not null, text $text not null, url $text
) $engine;
create unique index chunks_document on chunks (document_id, version, position);
create index chunks_workspace on chunks (workspace_id, id);

create table inbound_events (
  id $serial, account_id $id not null, external_id $key not null, kind $short not null, payload $text not null,
  target_external_id $key, conversation_id $id, message_id $id, received_at $time not null
) $engine;
create unique index inbound_events_external on inbound_events (account_id, external_id);
create index inbound_events_target on inbound_events (account_id, target_external_id);
create index inbound_events_conversation on inbound_events (conversation_id);
create index inbound_events_received on inbound_events (received_at);

create table outbox (
  id $serial, lane $key not null, kind $short not null, payload $text not null, due_at $time not null,
  attempts $int not null, lease_id $id, lease_until $time, dead_at $time, last_error $text, created_at $time not null
) $engine;
create index outbox_lane on outbox (lane, id);
create index outbox_due on outbox (dead_at, due_at, id);
create index outbox_lease on outbox (lease_id);

create table deliveries (
  id $id not null primary key, account_id $id not null, conversation_id $id not null, message_id $id not null,
  part $int not null, payload $text not null, state $short not null, external_id $key, attempts $int not null,
  error $text, started_at $time, settled_at $time
) $engine;
create unique index deliveries_part on deliveries (message_id, part);
create index deliveries_external on deliveries (account_id, external_id);
create index deliveries_conversation on deliveries (conversation_id);

create table receipts (
  delivery_id $id not null, state $short not null, at $time not null, primary key (delivery_id, state)
) $engine;

create table webhooks (
  id $id not null primary key, workspace_id $id not null, url $text not null, secret $text not null,
  events $text not null, disabled_at $time, disabled_reason $text, created_at $time not null
) $engine;
create index webhooks_workspace on webhooks (workspace_id, id);

create table idempotency (
  key_id $id not null, path $key not null, idempotency_key $key not null, body_hash $id not null, status $int,
  response $text, lease_until $time not null, created_at $time not null,
  primary key (key_id, path, idempotency_key)
) $engine;
create index idempotency_created on idempotency (created_at);

create table counters (
  name $key not null, window_start $time not null, value $int not null, primary key (name, window_start)
) $engine;
create index counters_window on counters (window_start);

create table connection_leases (
  account_id $id not null primary key, holder $id not null, lease_until $time not null
) $engine;

create table processes (
  id $id not null primary key, host $key not null, pid $int not null, started_at $time not null,
  heartbeat_at $time not null
) $engine;
`;

const onlyOn: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: [
    // The text itself is in the messages; `position` numbers the full-text rows in the order of the list.
    `create table conversation_text (
      position integer not null primary key, conversation_id text not null, indexed_seq integer not null)`,
    `create unique index conversation_text_conversation on conversation_text (conversation_id)`,
    `create virtual table conversation_fts using fts5 (
      body, tokenize = "ascii tokenchars '_'", content='', contentless_delete=1)`,
  ],
  mysql: [
    `create table conversation_text (
      conversation_id $id not null primary key, indexed_seq $int not null,
      body longtext character set ascii collate ascii_bin not null, fulltext index conversation_text_body (body)
    ) $engine`,
  ],
};

export const initial: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  const dialect = dialectOf(db);
  const all = [...statements.split(";"), ...onlyOn[dialect]];
  if (dialect === "mysql") await dropUnfinished(db, all);
  for (const statement of all) {
    if (statement.trim() !== "") await sql.raw(withTypes(statement, dialect)).execute(db);
  }
}

/**
 * MySQL commits each statement by itself, so an interrupted first start leaves some empty tables that carry Parley's
 * comment. Throws, and changes nothing, if a table of the same name belongs to another program.
 */
async function dropUnfinished(db: Kysely<unknown>, creating: readonly string[]): Promise<void> {
  const names = creating.flatMap((statement) => /create table (\w+)/.exec(statement)?.[1] ?? []);
  const { rows } = await sql<{ readonly name: string; readonly comment: string }>`
    select table_name as name, table_comment as comment from information_schema.tables
    where table_schema = database() and table_name in (${sql.join(names)})`.execute(db);
  for (const { name, comment } of rows) {
    const { rows: filled } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(db);
    if (comment !== "Parley" || filled.length > 0) {
      throw new Error(`the database has a table "${name}" already: use a database of Parley's own`);
    }
  }
  for (const { name } of rows) await sql`drop table ${sql.table(name)}`.execute(db);
}

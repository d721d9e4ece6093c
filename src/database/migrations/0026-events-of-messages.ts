import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";
import { apply } from "./statements.ts";

/** Finds the received events of one message without reading all events of its conversation. */
export const eventsOfMessages: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  const of = dialectOf(db) === "mysql" ? " on inbound_events" : "";
  await apply(
    db,
    `create index inbound_events_message on inbound_events (conversation_id, message_id);
    drop index inbound_events_conversation${of}`,
  );
}

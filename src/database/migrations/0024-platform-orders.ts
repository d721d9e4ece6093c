import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";
import { apply } from "./statements.ts";

/**
 * Adds the order of the last status change received from the platform, so that late reports of older changes are
 * ignored.
 */
export const platformOrders: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  const order = "json_extract(payload, '$.order')";
  const text = dialectOf(db) === "mysql" ? `json_unquote(${order})` : order;
  await apply(
    db,
    `alter table conversations add column platform_order $key;
    update conversations set platform_order = (
      select max(${text}) from inbound_events
        where inbound_events.conversation_id = conversations.id and inbound_events.kind = 'state'
    ) where channel = 'intercom'`,
  );
}

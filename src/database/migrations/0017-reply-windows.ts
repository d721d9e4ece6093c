import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Adds the time of the customer's last message by the conversation's own account, since some platforms limit replies by
 * it.
 */
export const replyWindows: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table conversations add column customer_wrote_at $time;
    update conversations set customer_wrote_at = (
      select max(created_at) from messages
        where messages.conversation_id = conversations.id and messages.seq = conversations.last_customer_seq
    ) where channel = 'whatsapp'`,
  );
}

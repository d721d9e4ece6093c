import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Since when a customer has not written by the conversation's own account: some platforms let nobody write to them then. */
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

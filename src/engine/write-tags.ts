import type { ConversationRow } from "#store/conversations.ts";
import { dialectOf } from "#store/dialect.ts";
import type { Tx } from "./ports.ts";

interface Filed {
  readonly row: ConversationRow;
  readonly before: ConversationRow;
  readonly isNew: boolean;
}

interface Tagging {
  readonly draft: { readonly row: ConversationRow };
  readonly tag: string;
}

/** Brings the rows of tags to where the conversations now stand. */
export async function writeTags(
  tx: Tx,
  changed: readonly Filed[],
  tags: { readonly added: readonly Tagging[]; readonly removed: readonly Tagging[] },
): Promise<void> {
  for (const { draft, tag } of tags.removed) {
    await tx
      .deleteFrom("conversation_tags")
      .where("conversation_id", "=", draft.row.id)
      .where("tag", "=", tag)
      .execute();
  }
  for (const { row, before, isNew } of changed) {
    // The tag rows carry what lists filter by.
    if (isNew || (row.status === before.status && row.sla_state === before.sla_state)) continue;
    await tx
      .updateTable("conversation_tags")
      .set({ status: row.status, sla_state: row.sla_state })
      .where("conversation_id", "=", row.id)
      .execute();
  }
  for (const { draft, tag } of tags.added) {
    const { row } = draft;
    const insert = tx.insertInto("conversation_tags").values({
      workspace_id: row.workspace_id,
      tag,
      conversation_id: row.id,
      started_at: row.started_at,
      channel: row.channel,
      status: row.status,
      sla_state: row.sla_state,
    });
    // A tag that is there already stays.
    await (
      dialectOf(tx) === "mysql" ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())
    ).execute();
  }
}

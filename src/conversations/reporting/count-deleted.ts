import { addCounts, createCellSums } from "#domain/reporting/cells.ts";
import { timezoneOf } from "#domain/workspace/settings.ts";
import type { Tx } from "#database/contract.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import { changeRows } from "./changes.ts";
import { recountConversations } from "./recount.ts";

/**
 * Keeps what a conversation has counted, without its content, so that a later recount knows it. Must be called before
 * its messages are deleted.
 */
export async function countDeleted(tx: Tx, { id, settings }: Workspace, row: ConversationRow): Promise<void> {
  if (row.opened_at === null) return;
  const counted = await recountConversations(tx, [row], settings);
  const sums = createCellSums();
  addCounts(sums, counted.get(row.id)?.counts ?? [], row.channel, timezoneOf(settings));
  await insertRows(tx, "report_changes", changeRows(new Map([[id, sums]]), true));
}

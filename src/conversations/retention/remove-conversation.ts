import type { Tx } from "#database/contract.ts";
import { deleteEventsOf } from "#database/queries/webhooks.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { followLane, reactionLane, ruleReplyLane, sendLane, timerLane, turnLane } from "#queue/lanes.ts";
import { requireConversation } from "#conversations/agents/update.ts";
import { countDeleted } from "#conversations/reporting/count-deleted.ts";
import { dropAttachments } from "#conversations/attachments/attachments.ts";
import { rerouteLane } from "#conversations/delivery/reroute/reroute-work.ts";
import { eraseWork } from "#conversations/transaction/desk-erase-work.ts";
import { deskLanes } from "#conversations/transaction/desk-sync-work.ts";
import type { Effects } from "#conversations/transaction/effects/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { OwnedTable } from "./delete-rows.ts";
import { deleteOwned } from "./delete-rows.ts";

const contentTables: readonly OwnedTable[] = [
  { table: "messages", key: "conversation_id" },
  { table: "notes", key: "conversation_id" },
  { table: "rule_firings", key: "conversation_id" },
  { table: "skill_calls", key: "conversation_id" },
  { table: "answer_feedback", key: "conversation_id" },
  { table: "reactions", key: "conversation_id" },
  { table: "weak_answers", key: "conversation_id" },
  { table: "surveys", key: "conversation_id" },
  { table: "ratings", key: "conversation_id" },
  { table: "conversation_tags", key: "conversation_id" },
  { table: "conversation_links", key: "conversation_id" },
];

/** Deletes the conversation and what belongs to it. The audit log stays. */
export async function removeConversation(
  tx: Tx,
  search: ConversationSearch,
  workspace: Workspace,
  conversationId: string,
  actor: Actor,
  now: number,
): Promise<Effects> {
  const row = await requireConversation(tx, workspace.id, conversationId);
  const { id } = row;
  const changes = createUnitOfWork(now, search);
  const draft = changes.track(row, workspace.settings, false);
  draft.audit("deleted", actor, {});
  draft.emit("conversation.deleted", actor);
  await countDeleted(tx, workspace, row);
  await search.remove(tx, [id]);
  await removeDeliveries(tx, id);
  for (const work of await eraseWork(tx, id, now)) changes.addWork(work);
  const files = await tx
    .selectFrom("attachments")
    .select(["id", "workspace_id"])
    .where("conversation_id", "=", id)
    .execute();
  for (const work of await dropAttachments(tx, files, now)) changes.addWork(work);
  await deleteOwned(tx, contentTables, [id]);
  const lanes = [turnLane, sendLane, followLane, rerouteLane, timerLane, ruleReplyLane, reactionLane].map((laneOf) =>
    laneOf(id),
  );
  await tx
    .deleteFrom("outbox")
    .where("lane", "in", [...lanes, ...deskLanes(id)])
    .execute();
  // Deduplication keys stay without text, so that a late redelivery does not create the conversation again.
  await tx.updateTable("inbound_events").set({ payload: "{}" }).where("conversation_id", "=", id).execute();
  await tx
    .updateTable("conversations")
    .set({ previous_conversation_id: row.previous_conversation_id })
    .where("contact_id", "=", row.contact_id)
    .where("previous_conversation_id", "=", id)
    .execute();
  // Drops queued webhook events, and past ones, which could be replayed.
  await deleteEventsOf(tx, [id]);
  await tx.deleteFrom("conversations").where("id", "=", id).execute();
  return {
    ...(await changes.flush(tx)),
    threads: [{ accountId: row.account_id, contextKey: row.context_key }],
    workspaces: [{ workspaceId: workspace.id, conversationId: id }],
  };
}

async function removeDeliveries(tx: Tx, conversationId: string): Promise<void> {
  await tx
    .deleteFrom("receipts")
    .where("delivery_id", "in", (eb) =>
      eb.selectFrom("deliveries").select("deliveries.id").where("deliveries.conversation_id", "=", conversationId),
    )
    .execute();
  await tx.deleteFrom("deliveries").where("conversation_id", "=", conversationId).execute();
}

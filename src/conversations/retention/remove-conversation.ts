import type { Tx } from "#database/contract.ts";
import { deleteEventsOf } from "#database/queries/webhooks.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { followLane, reactionLane, ruleReplyLane, sendLane, timerLane, turnLane } from "#queue/lanes.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { countDeleted } from "#conversations/reporting/count-deleted.ts";
import { dropAttachments } from "#conversations/attachments/attachments.ts";
import { rerouteLane } from "#conversations/work/reroute-work.ts";
import { eraseWork } from "#conversations/work/desk-erase-work.ts";
import { deskLanes } from "#conversations/work/desk-sync-work.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { deleteOwned } from "./purge-plan.ts";

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
  await deleteOwned(tx, "conversation", [id]);
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

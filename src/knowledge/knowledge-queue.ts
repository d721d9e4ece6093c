import type { Tx } from "#engine/ports.ts";
import { insertWork } from "#store/outbox.ts";

// What an index outside has to be told of, in the transaction of the change.

export const knowledgeKind = "knowledge";
export const knowledgeLane = (workspaceId: string): string => `knowledge:${workspaceId}`;

/** Queues that the workspace's collection be brought up to date. */
export async function queueKnowledge(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const work = { lane: knowledgeLane(workspaceId), kind: knowledgeKind, payload: {}, dueAt: now };
  await insertWork(tx, [work], now);
}

/** The same where an index outside holds the workspace's passages. */
export async function queueKnowledgeWhereOutside(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const outside = await tx
    .selectFrom("knowledge_collections")
    .select("workspace_id")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (outside !== undefined) await queueKnowledge(tx, workspaceId, now);
}

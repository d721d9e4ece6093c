import type { Tx } from "#database/contract.ts";
import { insertWork, insertWorkOnce } from "#database/queries/outbox.ts";

// What an index outside has to be told of, in the transaction of the change.

export const knowledgeKind = "knowledge";
export const knowledgeLane = (workspaceId: string): string => `knowledge:${workspaceId}`;

interface KnowledgePayload {
  /** A collection that nothing needs any more. */
  readonly drop?: string;
  /** One that may be gone, or lack what was written. */
  readonly check?: string;
}

/** Queues that the workspace's collection be brought up to date, after what the payload says. */
export async function queueKnowledge(
  tx: Tx,
  workspaceId: string,
  now: number,
  payload: KnowledgePayload = {},
): Promise<void> {
  const work = { lane: knowledgeLane(workspaceId), kind: knowledgeKind, payload, dueAt: now };
  await insertWork(tx, [work], now);
}

/** The same, unless it already waits. */
export async function queueKnowledgeOnce(
  tx: Tx,
  workspaceId: string,
  payload: KnowledgePayload,
  now: number,
): Promise<void> {
  await insertWorkOnce(tx, { lane: knowledgeLane(workspaceId), kind: knowledgeKind, payload, dueAt: now }, now);
}

export const vectorKind = "embed";
export const vectorLane = (workspaceId: string): string => `embed:${workspaceId}`;

/** Queues that the workspace's passages be given vectors; those after this one first. */
export async function queueVectors(tx: Tx, workspaceId: string, now: number, after = ""): Promise<void> {
  const lane = vectorLane(workspaceId);
  const waiting = await tx
    .selectFrom("outbox")
    .select("id")
    .where("lane", "=", lane)
    .where("lease_id", "is", null)
    .limit(1)
    .executeTakeFirst();
  const payload = after === "" ? {} : { after };
  if (waiting === undefined) await insertWork(tx, [{ lane, kind: vectorKind, payload, dueAt: now }], now);
}

/** The row of this id says that workspaces which come later are to have it too. */
export const everyWorkspace = "*";

/** Both where an index outside holds the workspace's passages, and where they have vectors. */
export async function queueKnowledgeWhereOutside(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const outside = await tx
    .selectFrom("knowledge_collections")
    .select("workspace_id")
    .where("workspace_id", "in", [workspaceId, everyWorkspace])
    .limit(1)
    .executeTakeFirst();
  if (outside !== undefined) await queueKnowledge(tx, workspaceId, now);
  const vectors = await tx
    .selectFrom("vector_models")
    .select("workspace_id")
    .where("workspace_id", "in", [workspaceId, everyWorkspace])
    .limit(1)
    .executeTakeFirst();
  if (vectors !== undefined) await queueVectors(tx, workspaceId, now);
}

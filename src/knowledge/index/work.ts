import type { Tx } from "#database/contract.ts";
import { insertWork, insertWorkOnce } from "#database/queries/outbox.ts";

// Work for external indexes. Must be queued in the transaction of the change.

export const knowledgeKind = "knowledge";
export const knowledgeLane = (workspaceId: string): string => `knowledge:${workspaceId}`;

interface KnowledgePayload {
  /** A collection to delete. */
  readonly drop?: string;
  /** A collection to verify, since it may be missing or incomplete. */
  readonly check?: string;
}

/** Queues a refresh of the workspace's collection. The payload's actions run first. */
export async function queueKnowledge(
  tx: Tx,
  workspaceId: string,
  now: number,
  payload: KnowledgePayload = {},
): Promise<void> {
  const work = { lane: knowledgeLane(workspaceId), kind: knowledgeKind, payload, dueAt: now };
  await insertWork(tx, [work], now);
}

/** Like {@link queueKnowledge}, unless the same work is already queued. */
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

/** Queues the embedding of the workspace's passages, starting after this id. */
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

/** A row with this id applies to workspaces that are created later. */
export const everyWorkspace = "*";

/** Queues the refresh of the external index and of the vectors, when the workspace has them. */
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

import { Type } from "typebox";
import type { PayloadOf } from "#database/work.ts";
import { workKind } from "#database/work.ts";
import type { Tx } from "#database/contract.ts";
import { insertWork, insertWorkOnce } from "#database/queries/outbox.ts";

// Work for external indexes. Must be queued in the transaction of the change.

/** The refresh of a workspace's collection. A lane's name ends with the workspace's id. */
export const knowledgeKind = workKind(
  "knowledge",
  Type.Object({
    /** A collection to delete. */
    drop: Type.Optional(Type.String()),
    /** A collection to verify, since it may be missing or incomplete. */
    check: Type.Optional(Type.String()),
  }),
);
export const knowledgeLane = (workspaceId: string): string => `knowledge:${workspaceId}`;

type KnowledgePayload = PayloadOf<typeof knowledgeKind>;

/** Queues a refresh of the workspace's collection. The payload's actions run first. */
export async function queueKnowledge(
  tx: Tx,
  workspaceId: string,
  now: number,
  payload: KnowledgePayload = {},
): Promise<void> {
  await insertWork(tx, [knowledgeKind.queued(knowledgeLane(workspaceId), payload, now)], now);
}

/** Like {@link queueKnowledge}, unless the same work is already queued. */
export async function queueKnowledgeOnce(
  tx: Tx,
  workspaceId: string,
  payload: KnowledgePayload,
  now: number,
): Promise<void> {
  await insertWorkOnce(tx, knowledgeKind.queued(knowledgeLane(workspaceId), payload, now), now);
}

/** The embedding of a workspace's passages, starting after this id. */
export const vectorKind = workKind(
  "embed",
  Type.Object({
    after: Type.Optional(Type.String()),
    /** Calibrates the encoder of an embedding server again. */
    calibrate: Type.Optional(Type.Boolean()),
  }),
);
export const vectorLane = (workspaceId: string): string => `embed:${workspaceId}`;

export async function queueVectors(tx: Tx, workspaceId: string, now: number, after = ""): Promise<void> {
  const lane = vectorLane(workspaceId);
  const waiting = await tx
    .selectFrom("outbox")
    .select("id")
    .where("lane", "=", lane)
    .where("lease_id", "is", null)
    .where("dead_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  const payload = after === "" ? {} : { after };
  if (waiting === undefined) await insertWork(tx, [vectorKind.queued(lane, payload, now)], now);
}

/** Queues a calibration of the encoder, also where none is due. */
export async function queueCalibration(tx: Tx, workspaceId: string, now: number): Promise<void> {
  await insertWorkOnce(tx, vectorKind.queued(vectorLane(workspaceId), { calibrate: true }, now), now);
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

import { randomBytes } from "node:crypto";
import { Type } from "typebox";
import type { PayloadOf } from "#database/work.ts";
import { workKind } from "#database/work.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { afterCommit } from "#database/transaction-context.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Wake } from "#runtime/signals.ts";
import { insertWork, insertWorkOnce } from "#database/queries/outbox.ts";
import { schemaVersion } from "./documents.ts";

// Outbox work and collections of the conversation search in Typesense.

export const searchLane = (workspaceId: string): string => `search:${workspaceId}`;
/** Names the lane of work that concerns no single workspace. */
export const wholeServer = "*";

export const conversationsPrefix = "parley_conversations_";
export const aliasOf = (workspaceId: string): string => `${conversationsPrefix}${workspaceId}`;

/** Changes of a workspace's collection. A lane's name ends with the workspace's id. */
export const searchKind = workKind(
  "search",
  Type.Union([
    Type.Object({ kind: Type.Literal("push"), conversationId: Type.String() }),
    Type.Object({
      kind: Type.Literal("build"),
      collection: Type.String(),
      after: Type.Union([Type.Object({ startedAt: Type.Number(), id: Type.String() }), Type.Null()]),
    }),
    Type.Object({ kind: Type.Literal("drop"), collection: Type.String() }),
    Type.Object({ kind: Type.Literal("check"), collection: Type.String() }),
    Type.Object({ kind: Type.Literal("sweep") }),
  ]),
);

export type SearchPayload = PayloadOf<typeof searchKind>;

export function collectionsOf(db: Pick<Tx, "selectFrom">, workspaceId: string) {
  return db.selectFrom("search_collections").selectAll().where("workspace_id", "=", workspaceId).executeTakeFirst();
}

async function insertSearchWork(
  tx: Tx,
  workspaceId: string,
  payloads: readonly SearchPayload[],
  now: number,
): Promise<void> {
  const lane = searchLane(workspaceId);
  await insertWork(
    tx,
    payloads.map((payload) => searchKind.queued(lane, payload, now)),
    now,
  );
}

/** Queues the build of a new collection; the live one is searched until the new one is full. */
export async function queueBuild(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const building = `${aliasOf(workspaceId)}_v${schemaVersion}_${randomBytes(5).toString("hex")}`;
  const known = await collectionsOf(tx, workspaceId);
  if (known === undefined) {
    const row = { workspace_id: workspaceId, live: null, live_version: 0, building, built: 0, written: 0 };
    await tx.insertInto("search_collections").values(row).execute();
  } else {
    await tx
      .updateTable("search_collections")
      .set({ building, built: 0 })
      .where("workspace_id", "=", workspaceId)
      .execute();
  }
  const abandoned = known?.building ?? null;
  await insertSearchWork(
    tx,
    workspaceId,
    [
      { kind: "build", collection: building, after: null },
      ...(abandoned === null ? [] : [{ kind: "drop" as const, collection: abandoned }]),
    ],
    now,
  );
}

/** Collections in build, with the number of conversations written so far. */
export async function buildsOf(
  read: Reader,
): Promise<readonly { readonly workspaceId: string; readonly built: number }[]> {
  return read
    .selectFrom("search_collections")
    .select(["workspace_id as workspaceId", "built"])
    .where("building", "is not", null)
    .execute();
}

/**
 * Called by a start without Typesense, so that changes are no longer queued for it. When it is used again, all
 * collections are rebuilt, and the old ones dropped. The rows stay, since they say that the server still has text.
 */
export async function leaveTypesense(store: Store): Promise<void> {
  const used = await store.read
    .selectFrom("search_collections")
    .select("workspace_id")
    .where((eb) => eb.or([eb("live", "is not", null), eb("building", "is not", null)]))
    .limit(1)
    .executeTakeFirst();
  if (used === undefined) return;
  await store.write(async (tx) => {
    await tx.updateTable("search_collections").set({ live: null, live_version: 0, building: null, built: 0 }).execute();
    await tx.deleteFrom("outbox").where("kind", "=", searchKind.kind).execute();
  });
}

export interface SearchQueue {
  add(tx: Tx, workspaceId: string, payloads: readonly SearchPayload[]): Promise<void>;
  /** Adds nothing if the same work is already queued. */
  addOnce(tx: Tx, workspaceId: string, payload: SearchPayload): Promise<void>;
  addBuild(tx: Tx, workspaceId: string): Promise<void>;
}

/** Notifies the worker after the commit; before it, the worker would find nothing. */
export function createSearchQueue(clock: Clock, wake: Wake, log: Log): SearchQueue {
  const notifyAfterCommit = (workspaceId: string): void =>
    afterCommit(
      () => wake.notify([searchLane(workspaceId)], clock.now()),
      (err) => log.warn({ err, workspaceId }, "typesense: notifying the worker failed"),
    );

  return {
    async add(tx, workspaceId, payloads) {
      await insertSearchWork(tx, workspaceId, payloads, clock.now());
      notifyAfterCommit(workspaceId);
    },
    async addOnce(tx, workspaceId, payload) {
      const now = clock.now();
      await insertWorkOnce(tx, searchKind.queued(searchLane(workspaceId), payload, now), now);
      notifyAfterCommit(workspaceId);
    },
    async addBuild(tx, workspaceId) {
      await queueBuild(tx, workspaceId, clock.now());
      notifyAfterCommit(workspaceId);
    },
  };
}

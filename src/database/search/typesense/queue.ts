import { randomBytes } from "node:crypto";
import type { ListPosition } from "#database/search/contract.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { insertWork, insertWorkOnce } from "#database/queries/outbox.ts";
import { schemaVersion } from "./documents.ts";

// The work of the search of conversations in Typesense, and the collections that it has or fills.

const searchKind = "search";
export const searchLane = (workspaceId: string): string => `search:${workspaceId}`;
/** In the lane of this name the work for the whole server is done. */
export const wholeServer = "*";

export const conversationsPrefix = "parley_conversations_";
export const aliasOf = (workspaceId: string): string => `${conversationsPrefix}${workspaceId}`;

export type SearchPayload =
  | { readonly kind: "push"; readonly conversationId: string }
  | { readonly kind: "build"; readonly collection: string; readonly after: ListPosition | null }
  | { readonly kind: "drop"; readonly collection: string }
  | { readonly kind: "check"; readonly collection: string }
  | { readonly kind: "sweep" };

export const searchPayload = (text: string): SearchPayload => JSON.parse(text) as SearchPayload;

export function collectionsOf(db: Pick<Tx, "selectFrom">, workspaceId: string) {
  return db.selectFrom("search_collections").selectAll().where("workspace_id", "=", workspaceId).executeTakeFirst();
}

export async function insertSearchWork(
  tx: Tx,
  workspaceId: string,
  payloads: readonly SearchPayload[],
  now: number,
): Promise<void> {
  const lane = searchLane(workspaceId);
  await insertWork(
    tx,
    payloads.map((payload) => ({ lane, kind: searchKind, payload, dueAt: now })),
    now,
  );
}

/** The same, unless it already waits. */
export async function insertSearchWorkOnce(
  tx: Tx,
  workspaceId: string,
  payload: SearchPayload,
  now: number,
): Promise<void> {
  await insertWorkOnce(tx, { lane: searchLane(workspaceId), kind: searchKind, payload, dueAt: now }, now);
}

/** Queues the building of a new collection; the one that serves goes on until the new one is full. */
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

/** Collections that are being filled, and how many conversations they have come to. */
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
 * For a start without Typesense: what changes from now on is not queued for it. Once it is used again, its collections
 * are built anew, and the ones that it has are dropped.
 */
export async function leaveTypesense(store: Store): Promise<void> {
  const left = await store.read.selectFrom("search_collections").select("workspace_id").limit(1).executeTakeFirst();
  if (left === undefined) return;
  await store.write(async (tx) => {
    await tx.deleteFrom("search_collections").execute();
    await tx.deleteFrom("outbox").where("kind", "=", searchKind).execute();
  });
}

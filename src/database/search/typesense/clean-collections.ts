import type { Store } from "#database/contract.ts";
import type { Typesense } from "./client.ts";
import { CollectionGone, deleteDocuments, listCollections, workspaceOf } from "./collections.ts";
import { schemaVersion } from "./documents.ts";
import type { SearchQueue } from "./queue.ts";
import { conversationsPrefix } from "./queue.ts";

const conversationsPerDeletion = 50;

export interface LiveCollection {
  readonly workspaceId: string;
  readonly collection: string;
}

/** Live collections that are not among these names. */
export async function missingCollections(store: Store, names: readonly string[]): Promise<readonly LiveCollection[]> {
  const onServer = new Set(names);
  const rows = await store.read
    .selectFrom("search_collections")
    .select(["workspace_id as workspaceId", "live as collection"])
    .where("live_version", "=", schemaVersion)
    .where("live", "is not", null)
    .$narrowType<{ collection: string }>()
    .execute();
  return rows.filter(({ collection }) => !onServer.has(collection));
}

/** Queues the drop of the collections of deleted workspaces. */
export async function dropDeletedWorkspaces(store: Store, queue: SearchQueue): Promise<void> {
  const deleted = await store.read
    .selectFrom("search_collections")
    .innerJoin("workspaces", "workspaces.id", "search_collections.workspace_id")
    .select(["workspace_id", "live", "building"])
    .where("deleted_at", "is not", null)
    .execute();
  for (const { workspace_id: workspaceId, live, building } of deleted) {
    const names = [live, building].filter((name) => name !== null);
    await store.write(async (tx) => {
      await tx.deleteFrom("search_collections").where("workspace_id", "=", workspaceId).execute();
      await queue.add(
        tx,
        workspaceId,
        names.map((collection) => ({ kind: "drop", collection })),
      );
    });
  }
}

/** Deletes conversations at once from every collection of the workspace, including collections no longer in use. */
export async function eraseConversations(
  typesense: Typesense,
  workspaceId: string,
  conversationIds: readonly string[],
): Promise<void> {
  const names = await listCollections(typesense);
  for (const name of names.filter((each) => workspaceOf(conversationsPrefix, each) === workspaceId)) {
    for (let at = 0; at < conversationIds.length; at += conversationsPerDeletion) {
      const ids = conversationIds.slice(at, at + conversationsPerDeletion);
      try {
        await deleteDocuments(typesense, name, `id:=[${ids.join(",")}]`);
      } catch (error) {
        // The collection was dropped meanwhile.
        if (!(error instanceof CollectionGone)) throw error;
      }
    }
  }
}

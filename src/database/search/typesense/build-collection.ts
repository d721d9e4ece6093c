import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { newestFirst, pageQuery } from "#database/queries/conversation-list-plan.ts";
import type { LeasedRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Typesense } from "./client.ts";
import { createCollection, pointAlias } from "./collections.ts";
import { conversationDocuments, importConversations } from "./conversation-documents.ts";
import { conversationSchema, schemaVersion } from "./documents.ts";
import type { SearchPayload, SearchQueue } from "./queue.ts";
import { aliasOf, collectionsOf } from "./queue.ts";

const conversationsPerStep = 200;

interface BuildContext {
  readonly store: Store;
  readonly typesense: Typesense;
  readonly log: Log;
  readonly queue: SearchQueue;
}

/** Writes the next conversations into a new collection, and queues the next step; the last step makes it the live one. */
export async function buildStep(
  { store, typesense, log, queue }: BuildContext,
  workspaceId: string,
  { collection, after }: Extract<SearchPayload, { readonly kind: "build" }>,
  rows: readonly LeasedRow[],
): Promise<void> {
  const collections = await collectionsOf(store.read, workspaceId);
  if (collections?.building !== collection) {
    // A later build has replaced this one.
    await store.write((tx) => finishWork(tx, rows));
    return;
  }
  if (after === null) await createCollection(typesense, conversationSchema(collection));
  const query = pageQuery(store.dialect, { workspaceId }, after ?? undefined, conversationsPerStep);
  const { rows: page } = await query.execute(store.read);
  const ids = page.map(({ id }) => id);
  const { documents } = await conversationDocuments(store.read, workspaceId, ids);
  await importConversations(typesense, collection, documents, collections.written, log);
  const last = page.toSorted(newestFirst).at(-1);
  if (last !== undefined && page.length === conversationsPerStep) {
    await store.write(async (tx) => {
      await finishWork(tx, rows);
      await tx
        .updateTable("search_collections")
        .set((eb) => ({ built: eb("built", "+", page.length) }))
        .where("workspace_id", "=", workspaceId)
        .execute();
      const next = { id: last.id, startedAt: last.started_at };
      await queue.add(tx, workspaceId, [{ kind: "build", collection, after: next }]);
    });
    return;
  }
  await pointAlias(typesense, aliasOf(workspaceId), collection);
  await store.write(async (tx) => {
    await finishWork(tx, rows);
    await tx
      .updateTable("search_collections")
      .set((eb) => ({
        live: collection,
        live_version: schemaVersion,
        building: null,
        built: eb("built", "+", page.length),
      }))
      .where("workspace_id", "=", workspaceId)
      .execute();
    if (collections.live !== null) await queue.add(tx, workspaceId, [{ kind: "drop", collection: collections.live }]);
  });
  const conversations = collections.built + page.length;
  log.info({ workspaceId, conversations }, "typesense: conversations of a workspace written");
}

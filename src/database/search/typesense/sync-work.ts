import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Wake } from "#runtime/signals.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { finishWork } from "#database/queries/outbox.ts";
import { buildStep } from "./build-collection.ts";
import type { LiveCollection } from "./clean-collections.ts";
import { dropDeletedWorkspaces, eraseConversations, missingCollections } from "./clean-collections.ts";
import type { Typesense } from "./client.ts";
import { TypesenseAway } from "./client.ts";
import {
  CollectionBehind,
  CollectionGone,
  awaitWritten,
  createCollection,
  deleteDocument,
  dropCollection,
  listCollections,
  multiSearchSince,
  orphansAmong,
} from "./collections.ts";
import { conversationDocuments, importConversations } from "./conversation-documents.ts";
import { conversationSchema, markOf, schemaVersion } from "./documents.ts";
import type { SearchPayload, SearchQueue } from "./queue.ts";
import { collectionsOf, conversationsPrefix, createSearchQueue, searchKind, searchLane, wholeServer } from "./queue.ts";

// All writes of a workspace go through one outbox lane, in order, and write the database's present state. A collection is
// built in the same lane, in short steps, so that an older text never overwrites a newer one.

export interface SearchWorkOptions {
  readonly store: Store;
  readonly typesense: Typesense;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
}

export interface SearchWork {
  readonly work: WorkDeclaration;
  enqueue(tx: Tx, workspaceId: string, payloads: readonly SearchPayload[]): Promise<void>;
  /** Queues the build of every missing or outdated collection, and the drop of unused ones. */
  ensure(): Promise<void>;
  /** Queues a check whether the collection is missing or incomplete. */
  suspect(workspaceId: string, collection: string): Promise<void>;
  /** Live collections that are not among these names. */
  missing(names: readonly string[]): Promise<readonly LiveCollection[]>;
  /** Deletes conversations at once from every collection of the workspace, including collections no longer in use. */
  erase(workspaceId: string, conversationIds: readonly string[]): Promise<void>;
}

export function createSearchWork({ store, typesense, clock, log, wake }: SearchWorkOptions): SearchWork {
  const queue = createSearchQueue(clock, wake, log);

  async function run(rows: readonly Work<SearchPayload>[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const workspaceId = first.lane.slice(searchLane("").length);
    try {
      const pushes = rows.filter(({ payload }) => payload.kind === "push");
      if (pushes.length > 0) {
        const ids = pushes.flatMap(({ payload }) => (payload.kind === "push" ? [payload.conversationId] : []));
        await startFirstBuild(store, queue, workspaceId);
        const written = await push({ store, typesense, log }, workspaceId, [...new Set(ids)]);
        await store.write(async (tx) => {
          await finishWork(tx, pushes);
          await tx.updateTable("search_collections").set({ written }).where("workspace_id", "=", workspaceId).execute();
        });
      }
      for (const row of rows) {
        const { payload } = row;
        if (payload.kind === "push") continue;
        if (payload.kind === "build") {
          await buildStep({ store, typesense, log, queue }, workspaceId, payload, [row]);
          continue;
        }
        if (payload.kind === "drop") await dropCollection(typesense, payload.collection);
        if (payload.kind === "check") await check(workspaceId, payload.collection);
        if (payload.kind === "sweep") await maintainServer();
        await store.write((tx) => finishWork(tx, [row]));
      }
    } catch (error) {
      if (!(error instanceof CollectionGone || error instanceof CollectionBehind)) throw error;
      log.warn({ workspaceId, gone: error.collection }, "typesense: collection gone or incomplete, rebuilding");
      await store.write((tx) => rebuild(tx, queue, workspaceId, error.collection));
      // The remaining rows are retried and go into the new collection.
      throw new TypesenseAway("a collection is gone; another is being built", { cause: error });
    }
  }

  /** Writes first: a server that is still reading its log answers reads from an earlier state. */
  async function check(workspaceId: string, collection: string): Promise<void> {
    const collections = await collectionsOf(store.read, workspaceId);
    if (collections?.live !== collection) return;
    await awaitWritten(typesense, collection);
    await multiSearchSince(typesense, markOf(collection, collections.written), []);
  }

  /** Drops unused collections, and queues a check of missing ones. */
  async function maintainServer(): Promise<void> {
    const names = await listCollections(typesense);
    // Read after the list: a collection is recorded before it is created.
    const workspaces = await store.read.selectFrom("workspaces").select("id").execute();
    const used = await store.read.selectFrom("search_collections").select(["live", "building"]).execute();
    const orphans = orphansAmong(conversationsPrefix, names, workspaces, used);
    for (const name of orphans) await dropCollection(typesense, name);
    if (orphans.length > 0) log.info({ orphans }, "typesense: unused collections dropped");
    for (const { workspaceId, collection } of await missingCollections(store, names)) {
      await suspect(workspaceId, collection);
    }
  }

  const suspect = (workspaceId: string, collection: string): Promise<void> =>
    store.write((tx) => queue.addOnce(tx, workspaceId, { kind: "check", collection }));

  return {
    work: declareWork(searchKind, {
      batch: true,
      // Unlimited, so that missed changes are written after any outage.
      attemptsMax: Number.POSITIVE_INFINITY,
      lanesMax: 4,
      run,
    }),
    enqueue: queue.add,
    suspect,
    missing: (names) => missingCollections(store, names),
    erase: (workspaceId, conversationIds) => eraseConversations(typesense, workspaceId, conversationIds),
    async ensure() {
      await dropDeletedWorkspaces(store, queue);
      const workspaces = await store.read
        .selectFrom("workspaces")
        .select("id")
        .where("deleted_at", "is", null)
        .execute();
      for (const { id } of workspaces) {
        const collections = await collectionsOf(store.read, id);
        const isLive = (collections?.live ?? null) !== null && collections?.live_version === schemaVersion;
        const isBuilding = collections?.building?.includes(`_v${schemaVersion}_`) === true;
        if (!isLive && !isBuilding) await store.write((tx) => queue.addBuild(tx, id));
      }
      await store.write((tx) => queue.addOnce(tx, wholeServer, { kind: "sweep" }));
    },
  };
}

/** Called for a workspace's first conversation. */
async function startFirstBuild(store: Store, queue: SearchQueue, workspaceId: string): Promise<void> {
  if ((await collectionsOf(store.read, workspaceId)) !== undefined) return;
  await store.write(async (tx) => {
    const deleted = await tx
      .selectFrom("workspaces")
      .select("id")
      .where("id", "=", workspaceId)
      .where("deleted_at", "is not", null)
      .executeTakeFirst();
    if (deleted !== undefined || (await collectionsOf(tx, workspaceId)) !== undefined) return;
    await queue.addBuild(tx, workspaceId);
  });
}

/** Returns the number of this write. */
async function push(
  { store, typesense, log }: Pick<SearchWorkOptions, "store" | "typesense" | "log">,
  workspaceId: string,
  ids: readonly string[],
): Promise<number> {
  const collections = await collectionsOf(store.read, workspaceId);
  const targets = [collections?.live, collections?.building].filter((name) => name !== null && name !== undefined);
  const { documents, removed } = await conversationDocuments(store.read, workspaceId, ids);
  const written = (collections?.written ?? 0) + 1;
  for (const target of targets) {
    // Deletions come first: a server with a full disk accepts nothing else.
    for (const id of removed) await deleteDocument(typesense, target, id);
    try {
      await importConversations(typesense, target, documents, written, log);
    } catch (error) {
      if (!(error instanceof CollectionGone) || target !== collections?.building) throw error;
      // The first build step, which creates the collection, comes later in this lane.
      await createCollection(typesense, conversationSchema(target));
      await importConversations(typesense, target, documents, written, log);
    }
  }
  return written;
}

/** Replaces a collection that is gone or incomplete. The database searches until the new one is built. */
async function rebuild(tx: Tx, queue: SearchQueue, workspaceId: string, gone: string): Promise<void> {
  const collections = await collectionsOf(tx, workspaceId);
  // Another process has already replaced it.
  if (collections !== undefined && collections.live !== gone && collections.building !== gone) return;
  await tx
    .updateTable("search_collections")
    .set({ live: null, live_version: 0 })
    .where("workspace_id", "=", workspaceId)
    .where("live", "=", gone)
    .execute();
  // An incomplete collection still exists.
  await queue.add(tx, workspaceId, [{ kind: "drop", collection: gone }]);
  const building = collections?.building ?? null;
  if (building === null || building === gone) await queue.addBuild(tx, workspaceId);
}

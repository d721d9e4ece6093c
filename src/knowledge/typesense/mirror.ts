import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { finishWork } from "#database/queries/outbox.ts";
import {
  CollectionBehind,
  CollectionGone,
  awaitWritten,
  dropCollection,
  listCollections,
  orphansAmong,
} from "#database/search/typesense/collections.ts";
import {
  everyWorkspace,
  knowledgeKind,
  knowledgeLane,
  queueKnowledge,
  queueKnowledgeOnce,
} from "#knowledge/index/work.ts";
import {
  aliasPrefix,
  collectionsOf,
  ensureCollections,
  forgetCollection,
  knowledgeState,
  liveOf,
  missingCollections,
  searchedIn,
} from "./collection-state.ts";
import type { CollectionDependencies } from "./fill-collection.ts";
import { createCollectionFiller } from "./fill-collection.ts";
import { passagesForm } from "./passage-documents.ts";
import { requireComplete } from "./search-scope.ts";

/**
 * Keeps the collections of all workspaces in step with the database. All writes of a workspace go through its outbox
 * lane, so that an older text never overwrites a newer one. A workspace's collection goes through these states:
 * none, in build (filled in steps), live (updated in place), and dropped, when it is replaced or its workspace deleted.
 */
export interface Mirror {
  readonly work: WorkDeclaration;
  /** Queues a check whether the collection is missing or incomplete. */
  suspect(workspaceId: string, collection: string): Promise<void>;
}

export function createMirror(options: CollectionDependencies): Mirror {
  const { store, typesense, clock, log } = options;
  const { update, dropOldBuild, fill } = createCollectionFiller(options);

  async function run(rows: readonly Work<PayloadOf<typeof knowledgeKind>>[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const workspaceId = first.lane.slice(knowledgeLane("").length);
    let done: boolean;
    try {
      for (const { payload } of rows) {
        const { drop, check: suspected } = payload;
        if (drop !== undefined) await dropCollection(typesense, drop);
        if (suspected !== undefined) await check(workspaceId, suspected);
      }
      if (workspaceId === everyWorkspace) await sweep();
      done = workspaceId === everyWorkspace || (await catchUp(workspaceId));
    } catch (error) {
      if (!(error instanceof CollectionGone || error instanceof CollectionBehind)) throw error;
      await discard(workspaceId, error.collection);
      done = false;
    }
    await store.write(async (tx) => {
      await finishWork(tx, rows);
      if (!done) await queueKnowledge(tx, workspaceId, clock.now());
    });
  }

  /** False: there is more to do. */
  async function catchUp(workspaceId: string): Promise<boolean> {
    const state = await knowledgeState(store.read, workspaceId);
    if (state === undefined) {
      await dropAll(workspaceId);
      return true;
    }
    const { version, collections = await store.write((tx) => ensureCollections(tx, workspaceId)) } = state;
    const live = liveOf(collections);
    if (live !== null && collections.version < version && !(await update(workspaceId, live, version))) return false;
    const building = await dropOldBuild(workspaceId);
    if (live !== null && collections.live_form === passagesForm && building === null) return true;
    return fill(workspaceId, collections.live, building);
  }

  /** Writes first: a server that is still reading its log answers reads from an earlier state. */
  async function check(workspaceId: string, collection: string): Promise<void> {
    const collections = await collectionsOf(store.read, workspaceId);
    if (collections?.live !== collection) return;
    await awaitWritten(typesense, collection);
    await requireComplete(typesense, searchedIn(collections, collection));
  }

  /** Gives up a collection that is gone or incomplete. The other index answers until a new one is full. */
  async function discard(workspaceId: string, gone: string): Promise<void> {
    log.warn({ workspaceId, gone }, "typesense: collection gone or incomplete, rebuilding");
    await store.write(async (tx) => {
      await forgetCollection(tx, workspaceId, gone);
      // An incomplete collection still exists.
      await queueKnowledge(tx, workspaceId, clock.now(), { drop: gone });
    });
  }

  /** Drops unused collections, and queues a check of missing ones. */
  async function sweep(): Promise<void> {
    const names = await listCollections(typesense);
    // Read after the list: a collection is recorded before it is created.
    const workspaces = await store.read.selectFrom("workspaces").select("id").execute();
    const used = await store.read.selectFrom("knowledge_collections").select(["live", "building"]).execute();
    const orphans = orphansAmong(aliasPrefix, names, workspaces, used);
    for (const name of orphans) await dropCollection(typesense, name);
    if (orphans.length > 0) log.info({ orphans }, "typesense: unused collections dropped");
    for (const { workspace_id: id, live } of await missingCollections(store.read, names)) await suspect(id, live);
  }

  /** Called for a workspace that was deleted. */
  async function dropAll(workspaceId: string): Promise<void> {
    const collections = await collectionsOf(store.read, workspaceId);
    for (const name of [collections?.live, collections?.building]) {
      if (name === undefined || name === null) continue;
      await dropCollection(typesense, name);
      await store.write((tx) => forgetCollection(tx, workspaceId, name));
    }
    await store.write((tx) => tx.deleteFrom("knowledge_collections").where("workspace_id", "=", workspaceId).execute());
  }

  const suspect = (workspaceId: string, collection: string): Promise<void> =>
    store.write((tx) => queueKnowledgeOnce(tx, workspaceId, { check: collection }, clock.now()));

  const work = declareWork(knowledgeKind, {
    batch: true,
    attemptsMax: Number.POSITIVE_INFINITY,
    lanesMax: 2,
    run,
  });
  return { work, suspect };
}

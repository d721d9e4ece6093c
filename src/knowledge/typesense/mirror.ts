import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import {
  CollectionBehind,
  CollectionGone,
  awaitWritten,
  dropCollection,
  listCollections,
  orphansAmong,
  pointAlias,
} from "#database/search/typesense/collections.ts";
import {
  everyWorkspace,
  knowledgeKind,
  knowledgeLane,
  queueKnowledge,
  queueKnowledgeOnce,
} from "#knowledge/index/work.ts";
import {
  aliasOf,
  aliasPrefix,
  collectionsOf,
  ensureCollections,
  forgetCollection,
  isPresentForm,
  knowledgeState,
  liveOf,
  missingCollections,
  newCollection,
  searchedIn,
  setBuilding,
} from "./collection-state.ts";
import { passagesForm } from "./passage-documents.ts";
import { requireComplete } from "./search-scope.ts";
import type { TypesenseWriter } from "./writer.ts";

/** Steps of one work; the rest is queued again, so that other work comes in between. */
export const stepsMax = 4;

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

interface MirrorOptions {
  readonly store: Store;
  readonly typesense: Typesense;
  readonly writer: TypesenseWriter;
  readonly clock: Clock;
  readonly log: Log;
}

export function createMirror({ store, typesense, writer, clock, log }: MirrorOptions): Mirror {
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

  /** Brings the live collection to this version. False: there is more to do. */
  async function update(workspaceId: string, live: string, version: number): Promise<boolean> {
    if (!(await writer.write(workspaceId, live, version, stepsMax))) return false;
    await writer.mark(live, version);
    const sums = await writer.sums(live);
    if (!(await writer.holds(live, sums.chunks))) {
      log.warn({ workspaceId, collection: live }, "typesense: collection differs from what was written, rebuilding");
      await store.write((tx) => setBuilding(tx, workspaceId, newCollection(workspaceId)));
      // The collection stays live: surplus passages in it are never shown.
    }
    await store.write((tx) =>
      tx
        .updateTable("knowledge_collections")
        .set({ version, ...sums })
        .where("workspace_id", "=", workspaceId)
        .where("live", "=", live)
        .execute(),
    );
    return true;
  }

  /** Drops a collection in build of another form, left by another program version. Returns the one in build. */
  async function dropOldBuild(workspaceId: string): Promise<string | null> {
    const building = (await collectionsOf(store.read, workspaceId))?.building ?? null;
    if (building === null || isPresentForm(workspaceId, building)) return building;
    await dropCollection(typesense, building);
    await store.write((tx) => forgetCollection(tx, workspaceId, building));
    return null;
  }

  /** Fills the collection in build, and makes it the live one when it is full. False: there is more to do. */
  async function fill(workspaceId: string, live: string | null, begun: string | null): Promise<boolean> {
    const building = begun ?? newCollection(workspaceId);
    if (begun === null) await store.write((tx) => setBuilding(tx, workspaceId, building));
    const version = (await knowledgeState(store.read, workspaceId))?.version;
    if (version === undefined) return false;
    await writer.create(building);
    if (!(await writer.write(workspaceId, building, version, stepsMax))) return false;
    await writer.mark(building, version);
    const sums = await writer.sums(building);
    if (!(await writer.holds(building, sums.chunks))) {
      throw new TypesenseAway("the new collection of passages does not hold what was written into it");
    }
    await pointAlias(typesense, aliasOf(workspaceId), building);
    await store.write(async (tx) => {
      await tx
        .updateTable("knowledge_collections")
        .set({ live: building, live_form: passagesForm, building: null, version, ...sums })
        .where("workspace_id", "=", workspaceId)
        .where("building", "=", building)
        .execute();
      if (live === null) return;
      await tx.deleteFrom("knowledge_written").where("collection", "=", live).execute();
      // Searches of the old collection that are under way fall back to the other index.
      await queueKnowledge(tx, workspaceId, clock.now(), { drop: live });
    });
    log.info({ workspaceId, passages: sums.chunks }, "typesense: passages of a workspace written");
    return true;
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

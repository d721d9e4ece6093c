import type { Store } from "#database/contract.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import { dropCollection, pointAlias } from "#database/search/typesense/collections.ts";
import { queueKnowledge } from "#knowledge/index/work.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import {
  aliasOf,
  collectionsOf,
  forgetCollection,
  isPresentForm,
  knowledgeState,
  newCollection,
  setBuilding,
} from "./collection-state.ts";
import { passagesForm } from "./passage-documents.ts";
import type { TypesenseWriter } from "./writer.ts";

/** Steps of one work; the rest is queued again, so that other work comes in between. */
export const stepsMax = 4;

export interface CollectionDependencies {
  readonly store: Store;
  readonly typesense: Typesense;
  readonly writer: TypesenseWriter;
  readonly clock: Clock;
  readonly log: Log;
}

/** Writes the passages of a workspace into its live collection, and into the one in build. */
export function createCollectionFiller({ store, typesense, writer, clock, log }: CollectionDependencies) {
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

  return { update, dropOldBuild, fill };
}

import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import { newestFirst, pageQuery } from "#database/queries/conversation-list-plan.ts";
import { searchText } from "#database/search/text.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import { afterCommit } from "#database/transaction-context.ts";
import type { Typesense } from "./client.ts";
import { TypesenseAway } from "./client.ts";
import type { Refused } from "./collections.ts";
import {
  CollectionBehind,
  CollectionGone,
  awaitWritten,
  createCollection,
  deleteDocument,
  deleteDocuments,
  dropCollection,
  importDocuments,
  listCollections,
  multiSearchSince,
  orphansAmong,
  pointAlias,
  workspaceOf,
} from "./collections.ts";
import type { ConversationDocument } from "./documents.ts";
import { conversationSchema, documentFor, markDocument, markOf, schemaVersion } from "./documents.ts";
import type { SearchPayload } from "./queue.ts";
import {
  aliasOf,
  collectionsOf,
  conversationsPrefix,
  insertSearchWork,
  insertSearchWorkOnce,
  queueBuild,
  searchLane,
  searchPayload,
  wholeServer,
} from "./queue.ts";

// Documents are written by the outbox's lane of the workspace, one work after the other, from what the database holds at
// that moment. A collection is built in the same lane, in short steps, so that no older text can overwrite a newer one.

export interface SearchWorkOptions {
  readonly store: Store;
  readonly typesense: Typesense;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
}

export interface SearchWork {
  /** Does the outbox's work of kind `search`. */
  work(rows: readonly OutboxRow[]): Promise<void>;
  enqueue(tx: Tx, workspaceId: string, payloads: readonly SearchPayload[]): Promise<void>;
  /** Queues the building of every collection that is missing or of an older form, and the dropping of all others. */
  ensure(): Promise<void>;
  /** Queues that it be found out whether the collection is gone, or lacks what was written. */
  suspect(workspaceId: string, collection: string): Promise<void>;
  /** Collections that should be on the server and are not among these. */
  missing(there: readonly string[]): Promise<readonly { readonly workspaceId: string; readonly collection: string }[]>;
  /** Deletes conversations at once from every collection of the workspace, also from those that are in use no more. */
  erase(workspaceId: string, conversationIds: readonly string[]): Promise<void>;
}

const buildStep = 200;
const erasedAtOnce = 50;

export function createSearchWork({ store, typesense, clock, log, wake }: SearchWorkOptions): SearchWork {
  /** Only when it is committed: a worker that looks before finds nothing. */
  const wakeAfterCommit = (workspaceId: string): void =>
    afterCommit(
      () => wake.notify([searchLane(workspaceId)], clock.now()),
      (err) => log.warn({ err, workspaceId }, "typesense: notifying the worker failed"),
    );

  async function enqueue(tx: Tx, workspaceId: string, payloads: readonly SearchPayload[]): Promise<void> {
    await insertSearchWork(tx, workspaceId, payloads, clock.now());
    wakeAfterCommit(workspaceId);
  }

  async function enqueueOnce(tx: Tx, workspaceId: string, payload: SearchPayload): Promise<void> {
    await insertSearchWorkOnce(tx, workspaceId, payload, clock.now());
    wakeAfterCommit(workspaceId);
  }

  async function beginBuild(tx: Tx, workspaceId: string): Promise<void> {
    await queueBuild(tx, workspaceId, clock.now());
    wakeAfterCommit(workspaceId);
  }

  /** The collection is of no use any more: from now on the database searches, until another one is built. */
  async function rebuild(workspaceId: string, gone: string): Promise<void> {
    log.warn({ workspaceId, gone }, "typesense: collection gone or incomplete, rebuilding");
    await store.write(async (tx) => {
      const known = await collectionsOf(tx, workspaceId);
      // Another has seen it before us.
      if (known !== undefined && known.live !== gone && known.building !== gone) return;
      await tx
        .updateTable("search_collections")
        .set({ live: null, live_version: 0 })
        .where("workspace_id", "=", workspaceId)
        .where("live", "=", gone)
        .execute();
      // It may be there, with less than it should have.
      await enqueue(tx, workspaceId, [{ kind: "drop", collection: gone }]);
      if (known?.building === null || known?.building === undefined || known.building === gone) {
        await beginBuild(tx, workspaceId);
      }
    });
  }

  async function documents(
    workspaceId: string,
    ids: readonly string[],
  ): Promise<{ readonly documents: readonly ConversationDocument[]; readonly gone: readonly string[] }> {
    if (ids.length === 0) return { documents: [], gone: [] };
    const rows = await store.read
      .selectFrom("conversations")
      .select(["id", "started_at", "channel", "status", "sla_state", "customer_email_key"])
      .where("id", "in", ids)
      .where("workspace_id", "=", workspaceId)
      .execute();
    const tags = await store.read
      .selectFrom("conversation_tags")
      .select(["conversation_id", "tag"])
      .where("conversation_id", "in", ids)
      .execute();
    const tagsOf = Map.groupBy(tags, (row) => row.conversation_id);
    const made: ConversationDocument[] = [];
    for (const row of rows) {
      made.push(
        documentFor({
          id: row.id,
          startedAt: row.started_at,
          channel: row.channel,
          status: row.status,
          slaState: row.sla_state,
          emailKey: row.customer_email_key,
          tags: (tagsOf.get(row.id) ?? []).map(({ tag }) => tag),
          text: await searchText(store.read, workspaceId, row.id),
        }),
      );
    }
    const there = new Set(rows.map(({ id }) => id));
    return { documents: made, gone: ids.filter((id) => !there.has(id)) };
  }

  const onRefused = (_document: ConversationDocument, refused: Refused): void =>
    log.error(refused, "typesense: conversation refused, q misses it");

  /** The number of this write. */
  async function write(workspaceId: string, ids: readonly string[]): Promise<number> {
    const known = await collectionsOf(store.read, workspaceId);
    const targets = [known?.live, known?.building].filter((name) => name !== null && name !== undefined);
    const made = await documents(workspaceId, ids);
    const written = (known?.written ?? 0) + 1;
    for (const target of targets) {
      // First: a server whose disk is full takes deletions alone.
      for (const id of made.gone) await deleteDocument(typesense, target, id);
      const all = [...made.documents, markDocument(written)];
      try {
        await importDocuments(typesense, target, all, onRefused);
      } catch (error) {
        if (!(error instanceof CollectionGone) || target !== known?.building) throw error;
        // Its first build step, which creates it, comes later in this lane.
        await createCollection(typesense, conversationSchema(target));
        await importDocuments(typesense, target, all, onRefused);
      }
    }
    return written;
  }

  async function buildOne(
    workspaceId: string,
    { collection, after }: Extract<SearchPayload, { readonly kind: "build" }>,
    rows: readonly OutboxRow[],
  ): Promise<void> {
    const known = await collectionsOf(store.read, workspaceId);
    if (known?.building !== collection) {
      // Another build has taken its place.
      await store.write((tx) => finishWork(tx, rows));
      return;
    }
    if (after === null) await createCollection(typesense, conversationSchema(collection));
    const { rows: page } = await pageQuery(store.dialect, { workspaceId }, after ?? undefined, buildStep).execute(
      store.read,
    );
    const made = await documents(
      workspaceId,
      page.map(({ id }) => id),
    );
    await importDocuments(typesense, collection, [...made.documents, markDocument(known.written)], onRefused);
    const last = page.toSorted(newestFirst).at(-1);
    if (last !== undefined && page.length === buildStep) {
      await store.write(async (tx) => {
        await finishWork(tx, rows);
        await tx
          .updateTable("search_collections")
          .set((eb) => ({ built: eb("built", "+", page.length) }))
          .where("workspace_id", "=", workspaceId)
          .execute();
        await enqueue(tx, workspaceId, [
          { kind: "build", collection, after: { id: last.id, startedAt: last.started_at } },
        ]);
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
      if (known.live !== null) await enqueue(tx, workspaceId, [{ kind: "drop", collection: known.live }]);
    });
    log.info(
      { workspaceId, conversations: known.built + page.length },
      "typesense: conversations of a workspace written",
    );
  }

  async function work(rows: readonly OutboxRow[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const workspaceId = first.lane.slice(searchLane("").length);
    const works = rows.map((row) => ({ row, payload: searchPayload(row.payload) }));
    try {
      const pushes = works.filter(({ payload }) => payload.kind === "push");
      if (pushes.length > 0) {
        const ids = pushes.flatMap(({ payload }) => (payload.kind === "push" ? [payload.conversationId] : []));
        await startUnlessThere(workspaceId);
        const written = await write(workspaceId, [...new Set(ids)]);
        await store.write(async (tx) => {
          await finishWork(
            tx,
            pushes.map(({ row }) => row),
          );
          await tx.updateTable("search_collections").set({ written }).where("workspace_id", "=", workspaceId).execute();
        });
      }
      for (const { row, payload } of works) {
        if (payload.kind === "build") await buildOne(workspaceId, payload, [row]);
        if (payload.kind === "drop") await dropCollection(typesense, payload.collection);
        if (payload.kind === "check") await check(workspaceId, payload.collection);
        if (payload.kind === "sweep") await sweep();
        if (payload.kind === "drop" || payload.kind === "check" || payload.kind === "sweep")
          await store.write((tx) => finishWork(tx, [row]));
      }
    } catch (error) {
      if (!(error instanceof CollectionGone || error instanceof CollectionBehind)) throw error;
      await rebuild(workspaceId, error.collection);
      // The remaining rows are retried and go into the new collection.
      throw new TypesenseAway("a collection is gone; another is being built", { cause: error });
    }
  }

  /** A workspace's first conversation. */
  async function startUnlessThere(workspaceId: string): Promise<void> {
    if ((await collectionsOf(store.read, workspaceId)) !== undefined) return;
    await store.write(async (tx) => {
      const workspace = await tx
        .selectFrom("workspaces")
        .select("id")
        .where("id", "=", workspaceId)
        .where("deleted_at", "is not", null)
        .executeTakeFirst();
      // A workspace that is deleted has nothing to be searched.
      if (workspace !== undefined || (await collectionsOf(tx, workspaceId)) !== undefined) return;
      await beginBuild(tx, workspaceId);
    });
  }

  /** Collections of workspaces that have been deleted since: their documents went one by one. */
  async function dropDeleted(): Promise<void> {
    const deleted = await store.read
      .selectFrom("search_collections")
      .innerJoin("workspaces", "workspaces.id", "search_collections.workspace_id")
      .select(["workspace_id", "live", "building"])
      .where("deleted_at", "is not", null)
      .execute();
    for (const { workspace_id: workspaceId, live, building } of deleted) {
      await store.write(async (tx) => {
        await tx.deleteFrom("search_collections").where("workspace_id", "=", workspaceId).execute();
        const names = [live, building].filter((name) => name !== null);
        await enqueue(
          tx,
          workspaceId,
          names.map((collection) => ({ kind: "drop", collection })),
        );
      });
    }
  }

  /** What a read has seen may be the server's state of some time ago; what it answers to a write is not. */
  async function check(workspaceId: string, collection: string): Promise<void> {
    const known = await collectionsOf(store.read, workspaceId);
    if (known?.live !== collection) return;
    await awaitWritten(typesense, collection);
    await multiSearchSince(typesense, markOf(collection, known.written), []);
  }

  /** Drops the collections that no workspace has or fills, and has those checked that are missing. */
  async function sweep(): Promise<void> {
    const names = await listCollections(typesense);
    // Afterwards: whatever is made has been noted before.
    const workspaces = await store.read.selectFrom("workspaces").select("id").execute();
    const used = await store.read.selectFrom("search_collections").select(["live", "building"]).execute();
    const orphans = orphansAmong(conversationsPrefix, names, workspaces, used);
    for (const name of orphans) await dropCollection(typesense, name);
    if (orphans.length > 0) log.info({ orphans }, "typesense: unused collections dropped");
    for (const { workspaceId, collection } of await missing(names)) await suspect(workspaceId, collection);
  }

  async function missing(names: readonly string[]) {
    const there = new Set(names);
    const rows = await store.read
      .selectFrom("search_collections")
      .select(["workspace_id as workspaceId", "live as collection"])
      .where("live_version", "=", schemaVersion)
      .where("live", "is not", null)
      .$narrowType<{ collection: string }>()
      .execute();
    return rows.filter(({ collection }) => !there.has(collection));
  }

  const suspect = (workspaceId: string, collection: string): Promise<void> =>
    store.write((tx) => enqueueOnce(tx, workspaceId, { kind: "check", collection }));

  return {
    work,
    enqueue,
    suspect,
    async ensure() {
      await dropDeleted();
      const workspaces = await store.read
        .selectFrom("workspaces")
        .select("id")
        .where("deleted_at", "is", null)
        .execute();
      for (const { id } of workspaces) {
        const known = await collectionsOf(store.read, id);
        const served = (known?.live ?? null) !== null && known?.live_version === schemaVersion;
        const building = known?.building?.includes(`_v${schemaVersion}_`) === true;
        if (served || building) continue;
        await store.write((tx) => beginBuild(tx, id));
      }
      await store.write((tx) => enqueueOnce(tx, wholeServer, { kind: "sweep" }));
    },
    missing,
    async erase(workspaceId, conversationIds) {
      const names = await listCollections(typesense);
      for (const name of names.filter((each) => workspaceOf(conversationsPrefix, each) === workspaceId)) {
        for (let at = 0; at < conversationIds.length; at += erasedAtOnce) {
          const ids = conversationIds.slice(at, at + erasedAtOnce);
          try {
            await deleteDocuments(typesense, name, `id:=[${ids.join(",")}]`);
          } catch (error) {
            // Dropped meanwhile, with all that it held.
            if (!(error instanceof CollectionGone)) throw error;
          }
        }
      }
    },
  };
}

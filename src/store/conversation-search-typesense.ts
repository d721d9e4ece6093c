import { randomBytes } from "node:crypto";
import { Problem } from "#domain/problem.ts";
import type {
  Clock,
  ConversationFilter,
  ConversationSearch,
  ListPosition,
  Log,
  Reader,
  Store,
  Tx,
  Wake,
} from "#engine/ports.ts";
import { newestFirst, pageQuery, tagsMax } from "./conversation-list-plan.ts";
import { searchText } from "./conversation-search-text.ts";
import { phrasesOf } from "./conversation-search-words.ts";
import type { DatabaseSearch } from "./conversation-search.ts";
import type { OutboxRow } from "./outbox.ts";
import { finishWork, insertWork } from "./outbox.ts";
import type { Typesense } from "./typesense-client.ts";
import { TypesenseAway } from "./typesense-client.ts";
import type { Refused } from "./typesense-collections.ts";
import { typesenseTrouble } from "./typesense-check.ts";
import type { ConversationDocument } from "./typesense-conversations.ts";
import {
  CollectionGone,
  SearchCutOff,
  createCollection,
  deleteDocument,
  dropCollection,
  importDocuments,
  pointAlias,
} from "./typesense-collections.ts";
import { conversationSchema, documentFor, perPageMax, schemaVersion, searchPage } from "./typesense-conversations.ts";

// Typesense names the candidates, in the list's order; the database says which of them are right. So the engine may be
// late or wrong and a page is still exact: what has changed since its document was written is waiting in the outbox, and
// is looked at as well.
//
// Documents are written by the outbox's lane of the workspace, one work after the other, from what the database holds at
// that moment. A collection is built in the same lane, in short steps, so that no older text can overwrite a newer one.

export interface TypesenseSearchOptions {
  readonly store: Store;
  readonly base: DatabaseSearch;
  readonly typesense: Typesense;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
}

export interface OutsideSearch extends ConversationSearch {
  /** Does the outbox's work of kind `search`. */
  work(rows: readonly OutboxRow[]): Promise<void>;
  /** Queues the building of every collection that is missing or of an older form. */
  ensure(): Promise<void>;
  /** Why `q` does not work as it should, or null. */
  trouble(): Promise<string | null>;
}

const searchKind = "search";
const laneOf = (workspaceId: string): string => `search:${workspaceId}`;
const aliasOf = (workspaceId: string): string => `parley_conversations_${workspaceId}`;

type Payload =
  | { readonly kind: "push"; readonly conversationId: string }
  | { readonly kind: "build"; readonly collection: string; readonly after: ListPosition | null }
  | { readonly kind: "drop"; readonly collection: string };

const buildStep = 200;
/** Changes that wait to be written and are looked at by every search; more are found once they are written. */
const pendingMax = 500;
const findMsMax = 8_000;
/** A transaction that queues work is durable after this time, as a rule; the worker looks every second anyway. */
const commitMs = 40;

export function createTypesenseSearch(options: TypesenseSearchOptions): OutsideSearch {
  const { store, base, typesense, clock, log, wake } = options;

  async function enqueue(tx: Tx, workspaceId: string, payloads: readonly Payload[]): Promise<void> {
    const now = clock.now();
    await insertSearchWork(tx, workspaceId, payloads, now);
    wake.notify([laneOf(workspaceId)], now + commitMs);
  }

  async function beginBuild(tx: Tx, workspaceId: string): Promise<void> {
    const now = clock.now();
    await queueBuild(tx, workspaceId, now);
    wake.notify([laneOf(workspaceId)], now + commitMs);
  }

  async function push(tx: Tx, conversationIds: readonly string[]): Promise<void> {
    if (conversationIds.length === 0) return;
    const rows = await tx
      .selectFrom("conversations")
      .select(["id", "workspace_id"])
      .where("id", "in", [...new Set(conversationIds)])
      .execute();
    for (const [workspaceId, of] of Map.groupBy(rows, (row) => row.workspace_id)) {
      await enqueue(
        tx,
        workspaceId,
        of.map(({ id }) => ({ kind: "push", conversationId: id })),
      );
    }
  }

  /** The collection is not there any more: from now on the database searches, until another one is built. */
  async function buildAnew(workspaceId: string, gone: string): Promise<void> {
    log.warn({ workspaceId, gone }, "a collection of Typesense is gone; it is built anew");
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
      if (known?.building === null || known?.building === undefined || known.building === gone) {
        await beginBuild(tx, workspaceId);
      }
    });
  }

  async function find(
    filter: ConversationFilter,
    text: string,
    before: ListPosition | undefined,
    limit: number,
  ): Promise<readonly ListPosition[]> {
    const phrases = phrasesOf(filter.workspaceId, text);
    if (phrases.length === 0 || (filter.tags ?? []).length > tagsMax) return [];
    const collections = await collectionsOf(store.read, filter.workspaceId);
    const live = collections?.live_version === schemaVersion ? collections.live : null;
    // Not built yet: the database can do it, if more slowly.
    if (live === null) return base.find(filter, text, before, limit);
    const deadline = performance.now() + findMsMax;
    try {
      const found = new Map<string, ListPosition>();
      const keep = (each: ListPosition): unknown => found.set(each.id, each);
      // Before the search, so that what is written meanwhile is seen by the one or the other.
      const pending = await pendingIds(filter.workspaceId);
      (await base.confirm(filter, text, before, pending)).forEach(keep);
      const size = Math.min(perPageMax, limit + 10);
      let from = before;
      let confirmed = 0;
      for (;;) {
        const hits = await searchPage(typesense, live, filter, phrases, from, size);
        const right = await base.confirm(
          filter,
          text,
          before,
          hits.map(({ id }) => id),
        );
        right.forEach(keep);
        confirmed += right.length;
        const last = hits.at(-1);
        if (last === undefined || hits.length < size || confirmed >= limit) break;
        from = last;
        if (performance.now() > deadline) throw new SearchCutOff();
      }
      return [...found.values()]
        .map((each) => ({ ...each, started_at: each.startedAt }))
        .toSorted(newestFirst)
        .slice(0, limit)
        .map(({ id, startedAt }) => ({ id, startedAt }));
    } catch (error) {
      if (error instanceof CollectionGone) {
        await buildAnew(filter.workspaceId, live);
        return base.find(filter, text, before, limit);
      }
      if (error instanceof TypesenseAway) {
        throw new Problem("search_unavailable", "the search engine does not answer now; lists without q work", {
          retryAfterS: 10,
          cause: error,
        });
      }
      if (error instanceof SearchCutOff) {
        const detail = "the search took too long: add rarer words, or narrow it by since and until";
        throw new Problem("search_unavailable", detail, { retryAfterS: 30, cause: error });
      }
      throw error;
    }
  }

  /** Conversations whose documents are not written yet, the newest changes first. */
  async function pendingIds(workspaceId: string): Promise<string[]> {
    const rows = await store.read
      .selectFrom("outbox")
      .select("payload")
      .where("lane", "=", laneOf(workspaceId))
      .where("dead_at", "is", null)
      .orderBy("id", "desc")
      .limit(pendingMax)
      .execute();
    const ids = rows
      .map(({ payload }) => payloadOf(payload))
      .map((each) => (each.kind === "push" ? each.conversationId : ""));
    return [...new Set(ids)].filter((id) => id !== "");
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
    log.error(refused, "Typesense does not take a conversation: q misses it");

  async function write(workspaceId: string, ids: readonly string[]): Promise<void> {
    const known = await collectionsOf(store.read, workspaceId);
    const targets = [known?.live, known?.building].filter((name) => name !== null && name !== undefined);
    const made = await documents(workspaceId, ids);
    for (const target of targets) {
      try {
        await importDocuments(typesense, target, made.documents, onRefused);
      } catch (error) {
        if (!(error instanceof CollectionGone) || target !== known?.building) throw error;
        // The first step of its building, which makes it, stands behind us in the lane.
        await createCollection(typesense, conversationSchema(target));
        await importDocuments(typesense, target, made.documents, onRefused);
      }
      for (const id of made.gone) await deleteDocument(typesense, target, id);
    }
  }

  async function buildOne(
    workspaceId: string,
    { collection, after }: Extract<Payload, { readonly kind: "build" }>,
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
    await importDocuments(typesense, collection, made.documents, onRefused);
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
    log.info({ workspaceId, conversations: known.built + page.length }, "the search of conversations is built");
  }

  async function work(rows: readonly OutboxRow[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const workspaceId = first.lane.slice(laneOf("").length);
    const works = rows.map((row) => ({ row, payload: payloadOf(row.payload) }));
    try {
      const pushes = works.filter(({ payload }) => payload.kind === "push");
      if (pushes.length > 0) {
        const ids = pushes.flatMap(({ payload }) => (payload.kind === "push" ? [payload.conversationId] : []));
        await startUnlessThere(workspaceId);
        await write(workspaceId, [...new Set(ids)]);
        await store.write((tx) =>
          finishWork(
            tx,
            pushes.map(({ row }) => row),
          ),
        );
      }
      for (const { row, payload } of works) {
        if (payload.kind === "build") await buildOne(workspaceId, payload, [row]);
        if (payload.kind === "drop") {
          await dropCollection(typesense, payload.collection);
          await store.write((tx) => finishWork(tx, [row]));
        }
      }
    } catch (error) {
      if (!(error instanceof CollectionGone)) throw error;
      const known = await collectionsOf(store.read, workspaceId);
      for (const name of [known?.live, known?.building]) {
        if (name !== null && name !== undefined && error.message.endsWith(` ${name}`))
          await buildAnew(workspaceId, name);
      }
      // What is left of these rows is tried again; the new collection takes it.
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

  return {
    find,
    ...(base.findTagged === undefined ? {} : { findTagged: base.findTagged }),
    // Typesense forgets a deleted document by itself.
    ...(base.purge === undefined ? {} : { purge: base.purge }),
    async index(tx, conversationIds) {
      await base.index(tx, conversationIds);
      await push(tx, conversationIds);
    },
    async refilter(tx, conversationIds) {
      await base.refilter(tx, conversationIds);
      await push(tx, conversationIds);
    },
    async remove(tx, conversationIds) {
      // Before the rows are gone, which tell whose they are.
      await push(tx, conversationIds);
      await base.remove(tx, conversationIds);
    },
    work,
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
    },
    async trouble() {
      const trouble = await typesenseTrouble(typesense);
      if (trouble !== null) return trouble;
      const { building } = await store.read
        .selectFrom("search_collections")
        .select((eb) => eb.fn.countAll<number>().as("building"))
        .where("live", "is", null)
        .executeTakeFirstOrThrow();
      return building === 0
        ? null
        : `the conversations of ${building} workspaces are being indexed; until then the database searches them`;
    },
  };
}

function collectionsOf(db: Pick<Tx, "selectFrom">, workspaceId: string) {
  return db.selectFrom("search_collections").selectAll().where("workspace_id", "=", workspaceId).executeTakeFirst();
}

const payloadOf = (text: string): Payload => JSON.parse(text) as Payload;

async function insertSearchWork(tx: Tx, workspaceId: string, payloads: readonly Payload[], now: number): Promise<void> {
  const lane = laneOf(workspaceId);
  await insertWork(
    tx,
    payloads.map((payload) => ({ lane, kind: searchKind, payload, dueAt: now })),
    now,
  );
}

/** Queues the building of a new collection; the one that serves goes on until the new one is full. */
export async function queueBuild(tx: Tx, workspaceId: string, now: number): Promise<void> {
  const building = `${aliasOf(workspaceId)}_v${schemaVersion}_${randomBytes(5).toString("hex")}`;
  const known = await collectionsOf(tx, workspaceId);
  if (known === undefined) {
    const row = { workspace_id: workspaceId, live: null, live_version: 0, building, built: 0 };
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
 * For a start without Typesense: what changes from now on is not queued for it, so that whenever it is used again, its
 * collections have to be built anew.
 */
export async function leaveTypesense(store: Store): Promise<void> {
  const left = await store.read.selectFrom("search_collections").select("workspace_id").limit(1).executeTakeFirst();
  if (left === undefined) return;
  await store.write(async (tx) => {
    await tx.deleteFrom("search_collections").execute();
    await tx.deleteFrom("outbox").where("kind", "=", searchKind).execute();
  });
}

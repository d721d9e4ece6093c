import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Word } from "#language/terms.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { KnowledgeCollectionsTable } from "#database/schema/knowledge.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import {
  CollectionBehind,
  CollectionGone,
  SearchCutOff,
  awaitWritten,
  dropCollection,
  listCollections,
  orphansAmong,
  pointAlias,
} from "#database/search/typesense/collections.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "#knowledge/index/contract.ts";
import {
  everyWorkspace,
  knowledgeKind,
  knowledgeLane,
  queueKnowledge,
  queueKnowledgeOnce,
} from "#knowledge/index/work.ts";
import { confirmed } from "#knowledge/index/confirmed-passages.ts";
import { bestFirst } from "./rough-rank.ts";
import { candidates, frequencies, passagesForm } from "./passage-documents.ts";
import type { Searched } from "./search-scope.ts";
import { requireComplete } from "./search-scope.ts";
import { meantBy, wordsNear } from "./word-documents.ts";
import { createTypesenseWriter, documentsAtOnce } from "./writer.ts";

// Typesense names the passages, the database shows them: what was removed, replaced or gated meanwhile is dropped. All
// writing is done in the outbox's lane of the workspace, by whoever has it, so that no older text can overwrite a newer
// one; a search that finds the collection behind does that work itself, or waits for who is doing it.

export interface TypesenseIndexOptions {
  readonly store: Store;
  readonly typesense: Typesense;
  /** Answers while a workspace's collection is filled for the first time, or is far behind. */
  readonly base: KnowledgeIndex;
  readonly clock: Clock;
  readonly log: Log;
  /** Does what is due in this lane, by {@link TypesenseIndex.work}; false when nothing is, or another does it. */
  readonly runLane: (lane: string) => Promise<boolean>;
}

export interface TypesenseIndex extends KnowledgeIndex {
  /** Does the outbox's work of kind `knowledge`. */
  work(rows: readonly OutboxRow[]): Promise<void>;
  /** Queues the filling of every collection that is missing, behind, or of an older form. */
  ensure(): Promise<void>;
  /** How many workspaces the other index answers for: their collections are not full, or none of these on the server. */
  unfinished(there: readonly string[]): Promise<number>;
}

const aliasPrefix = "parley_knowledge_";
const aliasOf = (workspaceId: string): string => `${aliasPrefix}${workspaceId}`;

/** A search waits so long for what was committed before it; then the other index answers. */
const catchUpMsMax = 3_000;
const lookMs = 20;
/** Steps of one work; then others have their turn, and it goes on. */
const stepsMax = 4;

/** What a question is searched in. */
interface Serving {
  readonly collections: KnowledgeCollectionsTable;
  readonly live: string;
  readonly behind: boolean;
}

interface State {
  readonly version: number;
  readonly collections: KnowledgeCollectionsTable | undefined;
}

export function createTypesenseIndex(options: TypesenseIndexOptions): TypesenseIndex {
  const { store, typesense, base, clock, log, runLane } = options;
  const writer = createTypesenseWriter({ store, typesense, log });

  async function stateOf(workspaceId: string): Promise<State | undefined> {
    const workspace = await store.read
      .selectFrom("workspaces")
      .select("knowledge_version as version")
      .where("id", "=", workspaceId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (workspace === undefined) return undefined;
    return { version: workspace.version, collections: await collectionsOf(store.read, workspaceId) };
  }

  const queue = (workspaceId: string): Promise<void> =>
    store.write(async (tx) => {
      if ((await collectionsOf(tx, workspaceId)) === undefined) await insertCollections(tx, workspaceId);
      await queueKnowledge(tx, workspaceId, clock.now());
    });

  /**
   * The collection to search in; undefined: there is none yet, and the other index has to answer. `behind`: it lacks some of
   * what was committed before the call, since that is much. Throws {@link TypesenseAway} where it cannot be written.
   */
  async function current(workspaceId: string, first: State): Promise<Serving | undefined> {
    const deadline = performance.now() + catchUpMsMax;
    let state: State | undefined = first;
    for (;;) {
      // What is committed while it waits is nothing to wait for.
      const { collections } = state;
      const live = liveOf(collections);
      if (collections !== undefined && live !== null && collections.version >= first.version)
        return { collections, live, behind: false };
      const meanwhile = collections === undefined || live === null ? undefined : { collections, live, behind: true };
      if (performance.now() > deadline) return meanwhile;
      if (!(await isQueued(workspaceId))) await queue(workspaceId);
      // So much takes longer than anybody waits.
      if (!(await (live === null ? isSmall(workspaceId) : writer.isNearly(workspaceId, live)))) return meanwhile;
      if (!(await runLane(knowledgeLane(workspaceId)))) {
        await failIfDeferred(workspaceId);
        // Another process is at it, or the worker of this one.
        await pause(lookMs);
      }
      state = await stateOf(workspaceId);
      if (state === undefined) return undefined;
    }
  }

  /** So few documents that one work writes them all. */
  async function isSmall(workspaceId: string): Promise<boolean> {
    const rows = await store.read
      .selectFrom("documents")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("indexed_version", ">", 0)
      .limit(documentsAtOnce * stepsMax)
      .execute();
    return rows.length < documentsAtOnce * stepsMax;
  }

  async function isQueued(workspaceId: string): Promise<boolean> {
    return (await waiting(workspaceId)) !== undefined;
  }

  const waiting = (workspaceId: string) =>
    store.read
      .selectFrom("outbox")
      .select(["due_at", "last_error", "lease_until"])
      .where("lane", "=", knowledgeLane(workspaceId))
      .where("dead_at", "is", null)
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();

  /** What failed a moment ago is not waited for: the server is away. */
  async function failIfDeferred(workspaceId: string): Promise<void> {
    const row = await waiting(workspaceId);
    if (row === undefined || row.last_error === null || row.due_at <= clock.now()) return;
    throw new TypesenseAway(row.last_error);
  }

  async function search(request: SearchRequest): Promise<SearchResult> {
    const { workspaceId } = request;
    const state = await stateOf(workspaceId);
    if (state === undefined) return nothing;
    // Nothing was ever added.
    if (state.version === 0 && state.collections === undefined) return nothing;
    let serving: Serving | undefined;
    try {
      serving = await current(workspaceId, state);
      if (serving === undefined) return await base.search(request);
      const result = await searchIn(serving, request);
      return serving.behind ? { ...result, partial: true } : result;
    } catch (error) {
      if (error instanceof CollectionGone || error instanceof CollectionBehind) {
        // Or the server still reads its log after a start: only a write tells.
        await suspect(workspaceId, error.collection);
        return base.search(request);
      }
      if (error instanceof TypesenseAway || error instanceof SearchCutOff) return base.search(request);
      throw error;
    }
  }

  async function searchIn({ collections, live }: Serving, request: SearchRequest): Promise<SearchResult> {
    const { chunks, terms, live_form: form } = collections;
    const searched = searchedIn(collections, live);
    const frequency = new Map(await frequencies(typesense, searched, request.terms));
    const unknown = (request.misspelt ?? []).filter(({ term }) => !frequency.has(term));
    const near = form < wordsFrom ? new Map<Word, readonly Word[]>() : await wordsNear(typesense, searched, unknown);
    const nearTerms = [...near.values()].flat().map(({ term }) => term);
    const counts = await frequencies(typesense, searched, [...new Set(nearTerms)]);
    const repaired = new Map<string, readonly string[]>();
    for (const [{ word, term }, words] of near) {
      const meant = meantBy(word, words, counts);
      for (const each of meant) frequency.set(each, counts.get(each) ?? 0);
      if (meant.length > 0) repaired.set(term, meant);
    }
    const averageTerms = chunks === 0 ? 0 : terms / chunks;
    const result = { chunkCount: chunks, averageTerms, frequency, repaired };
    const known = [...frequency.keys()].toSorted(
      (left, right) => (frequency.get(left) ?? 0) - (frequency.get(right) ?? 0) || (left < right ? -1 : 1),
    );
    if (known.length === 0 || request.limit === 0 || request.documentIds?.length === 0)
      return { ...result, candidates: [] };
    const hits = bestFirst(await candidates(typesense, searched, known, request), known, result);
    const best = hits.slice(0, request.limit).map((hit) => (hit.garbled ? { id: hit.id } : { id: hit.id, terms: hit }));
    return { ...result, candidates: await confirmed(store.read, best, request) };
  }

  /** Queues that it be found out whether the collection is gone, or lacks what was written. */
  const suspect = (workspaceId: string, collection: string): Promise<void> =>
    store.write((tx) => queueKnowledgeOnce(tx, workspaceId, { check: collection }, clock.now()));

  /** What a read has seen may be the server's state of some time ago; what it answers to a write is not. */
  async function check(workspaceId: string, collection: string): Promise<void> {
    const collections = await collectionsOf(store.read, workspaceId);
    if (collections?.live !== collection) return;
    await awaitWritten(typesense, collection);
    await requireComplete(typesense, searchedIn(collections, collection));
  }

  /** The collection is of no use any more: until another one is full, the other index answers. */
  async function rebuild(workspaceId: string, gone: string): Promise<void> {
    log.warn({ workspaceId, gone }, "typesense: collection gone or incomplete, rebuilding");
    await store.write(async (tx) => {
      await forgetCollection(tx, workspaceId, gone);
      // It may be there, with less than it should have.
      await queueKnowledge(tx, workspaceId, clock.now(), { drop: gone });
    });
  }

  /** Drops the collections that no workspace has or fills, and has those checked that are missing. */
  async function sweep(): Promise<void> {
    const names = await listCollections(typesense);
    // Afterwards: whatever is made has been noted before.
    const workspaces = await store.read.selectFrom("workspaces").select("id").execute();
    const used = await store.read.selectFrom("knowledge_collections").select(["live", "building"]).execute();
    const orphans = orphansAmong(aliasPrefix, names, workspaces, used);
    for (const name of orphans) await dropCollection(typesense, name);
    if (orphans.length > 0) log.info({ orphans }, "typesense: unused collections dropped");
    for (const { workspace_id: id, live } of await missingAmong(names)) await suspect(id, live);
  }

  async function missingAmong(names: readonly string[]) {
    const there = new Set(names);
    const rows = await store.read
      .selectFrom("knowledge_collections")
      .select(["workspace_id", "live"])
      .where("live", "is not", null)
      .$narrowType<{ live: string }>()
      .execute();
    return rows.filter(({ live }) => !there.has(live));
  }

  async function work(rows: readonly OutboxRow[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const workspaceId = first.lane.slice(knowledgeLane("").length);
    let done: boolean;
    try {
      for (const { payload } of rows) {
        const { drop, check: suspected } = JSON.parse(payload) as { readonly drop?: string; readonly check?: string };
        if (drop !== undefined) await dropCollection(typesense, drop);
        if (suspected !== undefined) await check(workspaceId, suspected);
      }
      if (workspaceId === everyWorkspace) await sweep();
      done = workspaceId === everyWorkspace || (await catchUp(workspaceId));
    } catch (error) {
      if (!(error instanceof CollectionGone || error instanceof CollectionBehind)) throw error;
      await rebuild(workspaceId, error.collection);
      done = false;
    }
    await store.write(async (tx) => {
      await finishWork(tx, rows);
      if (!done) await queueKnowledge(tx, workspaceId, clock.now());
    });
  }

  /** False: there is more to do. */
  async function catchUp(workspaceId: string): Promise<boolean> {
    const state = await stateOf(workspaceId);
    if (state === undefined) {
      await dropAll(workspaceId);
      return true;
    }
    const { version, collections = await created(workspaceId) } = state;
    const live = liveOf(collections);
    if (live !== null && collections.version < version) {
      if (!(await writer.write(workspaceId, live, version, stepsMax))) return false;
      await writer.mark(live, version);
      const sums = await writer.sums(live);
      if (!(await writer.holds(live, sums.chunks))) {
        log.warn({ workspaceId, collection: live }, "typesense: collection differs from what was written, rebuilding");
        await store.write((tx) => setBuilding(tx, workspaceId, newCollection(workspaceId)));
        // It serves on: what is too much in it is never shown.
      }
      await store.write((tx) =>
        tx
          .updateTable("knowledge_collections")
          .set({ version, ...sums })
          .where("workspace_id", "=", workspaceId)
          .where("live", "=", live)
          .execute(),
      );
    }
    let building = (await collectionsOf(store.read, workspaceId))?.building ?? null;
    if (building !== null && !building.startsWith(newName(workspaceId))) {
      // Begun by a program whose collections were of another form.
      await dropCollection(typesense, building);
      const begun = building;
      await store.write((tx) => forgetCollection(tx, workspaceId, begun));
      building = null;
    }
    if (live !== null && collections.live_form === passagesForm && building === null) return true;
    return fill(workspaceId, collections.live, building);
  }

  async function created(workspaceId: string): Promise<KnowledgeCollectionsTable> {
    await store.write(async (tx) => {
      if ((await collectionsOf(tx, workspaceId)) === undefined) await insertCollections(tx, workspaceId);
    });
    const made = await collectionsOf(store.read, workspaceId);
    if (made === undefined) throw new Error("the workspace's collections were noted and are gone");
    return made;
  }

  /** Fills the collection that is to take the live one's place, a few steps of it; and exchanges them when it is full. */
  async function fill(workspaceId: string, live: string | null, begun: string | null): Promise<boolean> {
    const building = begun ?? newCollection(workspaceId);
    if (begun === null) await store.write((tx) => setBuilding(tx, workspaceId, building));
    const version = (await stateOf(workspaceId))?.version;
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
      // Searches that began with it find it gone, and are answered by the other index.
      await queueKnowledge(tx, workspaceId, clock.now(), { drop: live });
    });
    log.info({ workspaceId, passages: sums.chunks }, "typesense: passages of a workspace written");
    return true;
  }

  /** Of a workspace that was deleted. */
  async function dropAll(workspaceId: string): Promise<void> {
    const known = await collectionsOf(store.read, workspaceId);
    for (const name of [known?.live, known?.building]) {
      if (name === undefined || name === null) continue;
      await dropCollection(typesense, name);
      await store.write((tx) => forgetCollection(tx, workspaceId, name));
    }
    await store.write((tx) => tx.deleteFrom("knowledge_collections").where("workspace_id", "=", workspaceId).execute());
  }

  return {
    search,
    work,
    async prepare(workspaceId, signal) {
      // Collections are written by the outbox's work; till a workspace has one, the other index answers for it.
      const state = await stateOf(workspaceId);
      if (state !== undefined && liveOf(state.collections) === null) await base.prepare(workspaceId, signal);
    },
    async drop(workspaceId) {
      await base.drop?.(workspaceId);
      if ((await collectionsOf(store.read, workspaceId)) === undefined) return;
      // The server of this installation does it, or this command before it ends; the engine may be away now.
      await store.write((tx) => queueKnowledge(tx, workspaceId, clock.now()));
    },
    async ensure() {
      await store.write(async (tx) => {
        if ((await collectionsOf(tx, everyWorkspace)) === undefined) await insertCollections(tx, everyWorkspace);
      });
      const behind = await store.read
        .selectFrom("workspaces")
        .leftJoin("knowledge_collections", "knowledge_collections.workspace_id", "workspaces.id")
        .select(["workspaces.id", "knowledge_version", "deleted_at", "live", "live_form", "version"])
        .execute();
      for (const each of behind) {
        const served = each.live !== null && each.live_form === passagesForm && each.version === each.knowledge_version;
        const wanted = each.deleted_at === null ? !served && each.knowledge_version > 0 : each.version !== null;
        if (wanted && !(await isQueued(each.id))) await queue(each.id);
      }
      await store.write((tx) => queueKnowledgeOnce(tx, everyWorkspace, {}, clock.now()));
    },
    async unfinished(there) {
      const { count } = await store.read
        .selectFrom("knowledge_collections")
        .innerJoin("workspaces", "workspaces.id", "knowledge_collections.workspace_id")
        .select((eb) => eb.fn.countAll().as("count"))
        .where("deleted_at", "is", null)
        .where((eb) => eb.or([eb("live", "is", null), eb("live_form", "<>", passagesForm)]))
        .executeTakeFirstOrThrow();
      return Number(count) + (await missingAmong(there)).length;
    },
    close: () => base.close(),
  };
}

const nothing: SearchResult = { candidates: [], chunkCount: 0, averageTerms: 0, frequency: new Map() };

/** Older forms that can be searched until a collection of the present one is full; a later one is a newer program's. */
const formsServed = [1, 3, passagesForm];
/** The first form that holds words beside the passages. */
const wordsFrom = 2;
/** The first form that tells which write was the last. */
const marksFrom = 4;

const liveOf = (collections: KnowledgeCollectionsTable | undefined): string | null =>
  collections !== undefined && formsServed.includes(collections.live_form) ? collections.live : null;

const searchedIn = ({ live_form: form, version }: KnowledgeCollectionsTable, live: string): Searched => ({
  collection: live,
  version: form < marksFrom ? null : version,
});

const newName = (workspaceId: string): string => `${aliasOf(workspaceId)}_v${passagesForm}_`;
const newCollection = (workspaceId: string): string => `${newName(workspaceId)}${randomBytes(5).toString("hex")}`;

function collectionsOf(db: Pick<Tx, "selectFrom">, workspaceId: string) {
  return db.selectFrom("knowledge_collections").selectAll().where("workspace_id", "=", workspaceId).executeTakeFirst();
}

async function insertCollections(tx: Tx, workspaceId: string): Promise<void> {
  await tx
    .insertInto("knowledge_collections")
    .values({ workspace_id: workspaceId, live: null, live_form: 0, building: null, version: -1, chunks: 0, terms: 0 })
    .execute();
}

async function setBuilding(tx: Tx, workspaceId: string, building: string): Promise<void> {
  await tx
    .updateTable("knowledge_collections")
    .set({ building })
    .where("workspace_id", "=", workspaceId)
    .where("building", "is", null)
    .execute();
}

async function forgetCollection(tx: Tx, workspaceId: string, name: string): Promise<void> {
  const of = () => tx.updateTable("knowledge_collections").where("workspace_id", "=", workspaceId);
  await of().set({ live: null, live_form: 0, version: -1, chunks: 0, terms: 0 }).where("live", "=", name).execute();
  await of().set({ building: null }).where("building", "=", name).execute();
  await tx.deleteFrom("knowledge_written").where("collection", "=", name).execute();
}

/** Queues a new collection for the workspace; the one that serves goes on until the new one is full. */
export async function rebuildKnowledge(tx: Tx, workspaceId: string, now: number): Promise<void> {
  if ((await collectionsOf(tx, workspaceId)) === undefined) await insertCollections(tx, workspaceId);
  await setBuilding(tx, workspaceId, newCollection(workspaceId));
  await queueKnowledge(tx, workspaceId, now);
}

/** Workspaces whose passages are being written into a new collection, and how many documents that has. */
export async function knowledgeBuilds(
  read: Reader,
): Promise<readonly { readonly workspaceId: string; readonly documents: number }[]> {
  const rows = await read
    .selectFrom("knowledge_collections")
    .leftJoin("knowledge_written", "knowledge_written.collection", "knowledge_collections.building")
    .select((eb) => ["workspace_id as workspaceId", eb.fn.count("knowledge_written.document_id").as("documents")])
    .where("building", "is not", null)
    .groupBy("workspace_id")
    .execute();
  return rows.map(({ workspaceId, documents }) => ({ workspaceId, documents: Number(documents) }));
}

/** For a start without Typesense: nothing is queued for it from now on. */
export async function leaveTypesenseIndex(store: Store): Promise<void> {
  const left = await store.read.selectFrom("knowledge_collections").select("workspace_id").limit(1).executeTakeFirst();
  if (left === undefined) return;
  await store.write(async (tx) => {
    await tx.deleteFrom("knowledge_collections").execute();
    await tx.deleteFrom("knowledge_written").execute();
    await tx.deleteFrom("outbox").where("kind", "=", knowledgeKind).execute();
  });
}

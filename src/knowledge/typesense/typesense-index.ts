import { setTimeout as pause } from "node:timers/promises";
import type { Word } from "#language/words/terms.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import type { WorkDeclaration } from "#database/work.ts";
import type { KnowledgeCollectionsTable } from "#database/schema/knowledge.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import { CollectionBehind, CollectionGone, SearchCutOff } from "#database/search/typesense/collections.ts";
import { confirmed } from "#knowledge/index/confirmed-passages.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "#knowledge/index/contract.ts";
import { everyWorkspace, knowledgeLane, queueKnowledge, queueKnowledgeOnce } from "#knowledge/index/work.ts";
import type { KnowledgeState } from "./collection-state.ts";
import {
  collectionsOf,
  ensureCollections,
  knowledgeState,
  liveOf,
  missingCollections,
  outdatedWorkspaces,
  recordEveryWorkspace,
  searchedIn,
  unfinishedCount,
  wordsFrom,
} from "./collection-state.ts";
import { stepsMax } from "./fill-collection.ts";
import { createMirror } from "./mirror.ts";
import { candidates, frequencies } from "./passage-documents.ts";
import { bestFirst } from "./rough-rank.ts";
import { meantBy, wordsNear } from "./word-documents.ts";
import { createTypesenseWriter, documentsAtOnce } from "./writer.ts";

// Typesense returns ids of passages, and the database confirms them: passages that were removed, replaced or gated
// meanwhile are dropped. A search that finds the collection behind runs the lane's work itself, or waits for the process
// that runs it.

export interface TypesenseIndexOptions {
  readonly store: Store;
  readonly typesense: Typesense;
  /** Answers while a workspace's collection is in build, or far behind. */
  readonly base: KnowledgeIndex;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs the due work of this lane. False when there is none, or another process runs it. */
  readonly runLane: (lane: string) => Promise<boolean>;
}

export interface TypesenseIndex extends KnowledgeIndex {
  readonly work: WorkDeclaration;
  /** Queues the update of every collection that is missing, behind, or of an older form. */
  ensure(): Promise<void>;
  /** The number of workspaces that the other index answers for. `names`: the collections on the server. */
  unfinished(names: readonly string[]): Promise<number>;
}

/** How long a search waits for earlier commits; then the other index answers. */
const catchUpMsMax = 3_000;
const pollMs = 20;

interface LiveCollection {
  readonly collections: KnowledgeCollectionsTable;
  readonly live: string;
  /** Lacks some of the commits before the search, since they are too many to wait for. */
  readonly behind: boolean;
}

export function createTypesenseIndex(options: TypesenseIndexOptions): TypesenseIndex {
  const { store, typesense, base, clock, log, runLane } = options;
  const writer = createTypesenseWriter({ store, typesense, log });
  const mirror = createMirror({ store, typesense, writer, clock, log });

  const queue = (workspaceId: string): Promise<void> =>
    store.write(async (tx) => {
      await ensureCollections(tx, workspaceId);
      await queueKnowledge(tx, workspaceId, clock.now());
    });

  /**
   * Returns the collection once it has all commits before the call. Undefined where there is none yet: the other index
   * has to answer. Throws {@link TypesenseAway} where it cannot be written.
   */
  async function caughtUp(workspaceId: string, first: KnowledgeState): Promise<LiveCollection | undefined> {
    const deadline = performance.now() + catchUpMsMax;
    let state: KnowledgeState | undefined = first;
    for (;;) {
      const { collections } = state;
      const live = liveOf(collections);
      // Later commits than those of the first state are not waited for.
      if (collections !== undefined && live !== null && collections.version >= first.version)
        return { collections, live, behind: false };
      const meanwhile = collections === undefined || live === null ? undefined : { collections, live, behind: true };
      if (performance.now() > deadline) return meanwhile;
      if ((await pendingWork(store, workspaceId)) === undefined) await queue(workspaceId);
      if (!(await (live === null ? isSmall(store, workspaceId) : writer.isNearly(workspaceId, live)))) return meanwhile;
      if (!(await runLane(knowledgeLane(workspaceId)))) {
        await failIfDeferred(store, workspaceId, clock.now());
        // Another process, or the worker of this one, runs the lane.
        await pause(pollMs);
      }
      state = await knowledgeState(store.read, workspaceId);
      if (state === undefined) return undefined;
    }
  }

  async function search(request: SearchRequest): Promise<SearchResult> {
    const { workspaceId } = request;
    const state = await knowledgeState(store.read, workspaceId);
    if (state === undefined || (state.version === 0 && state.collections === undefined)) return nothing;
    try {
      const collection = await caughtUp(workspaceId, state);
      if (collection === undefined) return await base.search(request);
      const result = await searchCollection(store, typesense, collection, request);
      return collection.behind ? { ...result, partial: true } : result;
    } catch (error) {
      if (error instanceof CollectionGone || error instanceof CollectionBehind) {
        // The server may still be reading its log after a start; only a write makes sure.
        await mirror.suspect(workspaceId, error.collection);
        return base.search(request);
      }
      if (error instanceof TypesenseAway || error instanceof SearchCutOff) return base.search(request);
      throw error;
    }
  }

  return {
    search,
    work: mirror.work,
    async prepare(workspaceId, signal) {
      // The outbox fills collections; the other index answers until a workspace has one.
      const state = await knowledgeState(store.read, workspaceId);
      if (state !== undefined && liveOf(state.collections) === null) await base.prepare(workspaceId, signal);
    },
    async drop(workspaceId) {
      await base.drop?.(workspaceId);
      if ((await collectionsOf(store.read, workspaceId)) === undefined) return;
      // Queued, since Typesense may be away now.
      await store.write((tx) => queueKnowledge(tx, workspaceId, clock.now()));
    },
    async ensure() {
      await recordEveryWorkspace(store);
      for (const id of await outdatedWorkspaces(store)) {
        if ((await pendingWork(store, id)) === undefined) await queue(id);
      }
      await store.write((tx) => queueKnowledgeOnce(tx, everyWorkspace, {}, clock.now()));
    },
    unfinished: async (names) =>
      (await unfinishedCount(store.read)) + (await missingCollections(store.read, names)).length,
    close: () => base.close(),
  };
}

const nothing: SearchResult = { candidates: [], chunkCount: 0, averageTerms: 0, frequency: new Map() };

async function searchCollection(
  store: Store,
  typesense: Typesense,
  { collections, live }: LiveCollection,
  request: SearchRequest,
): Promise<SearchResult> {
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
  const rarestFirst = [...frequency.keys()].toSorted(
    (left, right) => (frequency.get(left) ?? 0) - (frequency.get(right) ?? 0) || (left < right ? -1 : 1),
  );
  if (rarestFirst.length === 0 || request.limit === 0 || request.documentIds?.length === 0)
    return { ...result, candidates: [] };
  const hits = bestFirst(await candidates(typesense, searched, rarestFirst, request), rarestFirst, result);
  const best = hits.slice(0, request.limit).map((hit) => (hit.garbled ? { id: hit.id } : { id: hit.id, terms: hit }));
  return { ...result, candidates: await confirmed(store.read, best, request) };
}

/** Whether one work writes all documents of the workspace. */
async function isSmall(store: Store, workspaceId: string): Promise<boolean> {
  const rows = await store.read
    .selectFrom("documents")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("indexed_version", ">", 0)
    .limit(documentsAtOnce * stepsMax)
    .execute();
  return rows.length < documentsAtOnce * stepsMax;
}

const pendingWork = (store: Store, workspaceId: string) =>
  store.read
    .selectFrom("outbox")
    .select(["due_at", "last_error", "lease_until"])
    .where("lane", "=", knowledgeLane(workspaceId))
    .where("dead_at", "is", null)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();

/** Throws when the work has just failed and is deferred: the server is away. */
async function failIfDeferred(store: Store, workspaceId: string, now: number): Promise<void> {
  const row = await pendingWork(store, workspaceId);
  if (row === undefined || row.last_error === null || row.due_at <= now) return;
  throw new TypesenseAway(row.last_error);
}

import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationFilter, ConversationSearch, ListPosition } from "#database/search/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import { newestFirst, tagsMax } from "#database/queries/conversation-list-plan.ts";
import { phrasesOf } from "#database/search/words.ts";
import type { DatabaseSearch } from "#database/search/contract.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";
import type { Typesense } from "./client.ts";
import { TypesenseAway } from "./client.ts";
import type { TypesenseState } from "./health.ts";
import { typesenseState } from "./health.ts";
import { CollectionBehind, CollectionGone, SearchCutOff } from "./collections.ts";
import { markOf, perPageMax, schemaVersion, searchPage } from "./documents.ts";
import { collectionsOf, searchLane, searchPayload } from "./queue.ts";
import { createSearchWork } from "./sync-work.ts";

// Typesense names the candidates, in the list's order; the database says which of them are right. So the engine may be
// late or wrong and a page is still exact: what has changed since its document was written is waiting in the outbox, and
// is looked at as well.

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
  /** Why `q` does not work as it should, and what the server has. */
  state(): Promise<TypesenseState>;
}

/** Changes that wait to be written and are looked at by every search; more are found once they are written. */
const pendingMax = 500;
const findMsMax = 8_000;
export function createTypesenseSearch(options: TypesenseSearchOptions): OutsideSearch {
  const { store, base, typesense } = options;
  const work = createSearchWork(options);

  async function push(tx: Tx, conversationIds: readonly string[]): Promise<void> {
    if (conversationIds.length === 0) return;
    const rows = await tx
      .selectFrom("conversations")
      .select(["id", "workspace_id"])
      .where("id", "in", [...new Set(conversationIds)])
      .execute();
    for (const [workspaceId, of] of Map.groupBy(rows, (row) => row.workspace_id)) {
      await work.enqueue(
        tx,
        workspaceId,
        of.map(({ id }) => ({ kind: "push", conversationId: id })),
      );
    }
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
    const mark = markOf(live, collections?.written ?? 0);
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
        const hits = await searchPage(typesense, mark, filter, phrases, from, size);
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
      if (error instanceof TypesenseAway) return base.find(filter, text, before, limit);
      if (error instanceof CollectionGone || error instanceof CollectionBehind) {
        // Or the server still reads its log after a start: only a write tells.
        await work.suspect(filter.workspaceId, live);
        return base.find(filter, text, before, limit);
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
      .where("lane", "=", searchLane(workspaceId))
      .where("dead_at", "is", null)
      .orderBy("id", "desc")
      .limit(pendingMax)
      .execute();
    const ids = rows
      .map(({ payload }) => searchPayload(payload))
      .map((each) => (each.kind === "push" ? each.conversationId : ""));
    return [...new Set(ids)].filter((id) => id !== "");
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
    async erase(workspaceId, conversationIds) {
      try {
        await work.erase(workspaceId, conversationIds);
        return true;
      } catch (error) {
        if (error instanceof TypesenseAway) return false;
        throw error;
      }
    },
    work: work.work,
    ensure: work.ensure,
    async state() {
      const state = await typesenseState(typesense);
      if (state.trouble !== null) return state;
      const { building } = await store.read
        .selectFrom("search_collections")
        .select((eb) => eb.fn.countAll<number>().as("building"))
        .where("live", "is", null)
        .executeTakeFirstOrThrow();
      const missing = (await work.missing(state.collections)).length + building;
      if (missing === 0) return state;
      const trouble = `the conversations of ${missing} workspaces are not in Typesense yet; until then the database searches them`;
      return { ...state, trouble };
    },
  };
}

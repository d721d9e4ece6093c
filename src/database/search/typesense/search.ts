import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationFilter, ConversationSearch, ListPosition } from "#database/search/contract.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { Wake } from "#runtime/signals.ts";
import { tagsMax } from "#database/queries/conversation-list-plan.ts";
import { phrasesOf } from "#database/search/words.ts";
import type { DatabaseSearch } from "#database/search/contract.ts";
import type { WorkDeclaration } from "#database/work.ts";
import type { Typesense } from "./client.ts";
import { TypesenseAway } from "./client.ts";
import type { TypesenseState } from "./health.ts";
import { typesenseState } from "./health.ts";
import { CollectionBehind, CollectionGone, SearchCutOff } from "./collections.ts";
import { markOf, schemaVersion } from "./documents.ts";
import { findIn } from "./find.ts";
import { collectionsOf } from "./queue.ts";
import { createSearchWork } from "./sync-work.ts";

// Typesense returns candidates in the order of the list, and the database confirms each of them. Conversations with a
// change that is still in the outbox are candidates too. A page is therefore exact even when Typesense is late or wrong.

export interface TypesenseSearchOptions {
  readonly store: Store;
  readonly base: DatabaseSearch;
  readonly typesense: Typesense;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
}

export interface OutsideSearch extends ConversationSearch {
  readonly work: WorkDeclaration;
  /** Queues the build of every missing or outdated collection. */
  ensure(): Promise<void>;
  /** The state of the server, and why `q` is degraded. */
  state(): Promise<TypesenseState>;
}

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
    // The collection is not built yet.
    if (live === null) return base.find(filter, text, before, limit);
    const mark = markOf(live, collections?.written ?? 0);
    try {
      return await findIn({ store, base, typesense, mark, phrases }, filter, text, before, limit);
    } catch (error) {
      if (error instanceof TypesenseAway) return base.find(filter, text, before, limit);
      if (error instanceof CollectionGone || error instanceof CollectionBehind) {
        // The server may still be reading its log after a start; only a write makes sure.
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

  return {
    find,
    ...(base.findTagged === undefined ? {} : { findTagged: base.findTagged }),
    // Typesense needs no purge of deleted documents.
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
      // Before the rows are removed, which name the workspace.
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

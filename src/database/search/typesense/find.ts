import type { Store } from "#database/contract.ts";
import { newestFirst } from "#database/queries/conversation-list-plan.ts";
import type { ConversationFilter, DatabaseSearch, ListPosition } from "#database/search/contract.ts";
import type { Typesense } from "./client.ts";
import type { Mark } from "./collections.ts";
import { SearchCutOff } from "./collections.ts";
import { perPageMax, searchPage } from "./documents.ts";
import { searchKind, searchLane } from "./queue.ts";

/** Most unwritten changes that a search considers; the others are found once they are written. */
const pendingMax = 500;
const findMsMax = 8_000;
/** Candidates requested beyond the limit, since the database rejects some. */
const spareCandidates = 10;

interface FindContext {
  readonly store: Store;
  readonly base: Pick<DatabaseSearch, "confirm">;
  readonly typesense: Typesense;
  readonly mark: Mark;
  readonly phrases: Parameters<typeof searchPage>[3];
}

/** Throws {@link SearchCutOff} when the search takes too long. */
export async function findIn(
  { store, base, typesense, mark, phrases }: FindContext,
  filter: ConversationFilter,
  text: string,
  before: ListPosition | undefined,
  limit: number,
): Promise<readonly ListPosition[]> {
  const deadline = performance.now() + findMsMax;
  const confirmed = new Map<string, ListPosition>();
  const confirm = async (ids: readonly string[]): Promise<number> => {
    const positions = await base.confirm(filter, text, before, ids);
    for (const position of positions) confirmed.set(position.id, position);
    return positions.length;
  };
  // Read before the search: a change written meanwhile is then seen by one or the other.
  await confirm(await pendingIds(store, filter.workspaceId));
  const size = Math.min(perPageMax, limit + spareCandidates);
  let from = before;
  let hitsConfirmed = 0;
  for (;;) {
    const hits = await searchPage(typesense, mark, filter, phrases, from, size);
    hitsConfirmed += await confirm(hits.map(({ id }) => id));
    const last = hits.at(-1);
    if (last === undefined || hits.length < size || hitsConfirmed >= limit) break;
    from = last;
    if (performance.now() > deadline) throw new SearchCutOff();
  }
  return [...confirmed.values()]
    .map((position) => ({ ...position, started_at: position.startedAt }))
    .toSorted(newestFirst)
    .slice(0, limit)
    .map(({ id, startedAt }) => ({ id, startedAt }));
}

/** Conversations with unwritten changes, the latest changes first. */
async function pendingIds(store: Store, workspaceId: string): Promise<string[]> {
  const rows = await store.read
    .selectFrom("outbox")
    .select("payload")
    .where("lane", "=", searchLane(workspaceId))
    .where("dead_at", "is", null)
    .orderBy("id", "desc")
    .limit(pendingMax)
    .execute();
  const ids = new Set<string>();
  for (const row of rows) {
    const { payload } = searchKind.read(row);
    if (payload.kind === "push") ids.add(payload.conversationId);
  }
  return [...ids];
}

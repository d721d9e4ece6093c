import type { ListItem, ListPage } from "#http/inbox/wire.ts";

/** The conversations that the agent has seen in the lists. */
export interface SeenLists {
  readonly waiting: ReadonlySet<string>;
  /** `waiting` has all that wait, and not only the latest. */
  readonly isAll: boolean;
  /** When the customer of each of the agent's conversations wrote last. */
  readonly mine: ReadonlyMap<string, number>;
  readonly at: number;
}

export const nothingSeen = (at: number): SeenLists => ({ waiting: new Set(), isAll: false, mine: new Map(), at });

export const seenIn = (escalated: ListPage, mine: ListPage): SeenLists => ({
  waiting: new Set(escalated.items.map(({ id }) => id)),
  isAll: escalated.nextCursor === null,
  mine: new Map(mine.items.map(({ id, lastMessageAt }) => [id, lastMessageAt])),
  at: Math.min(escalated.now, mine.now),
});

export interface News {
  /** Conversations that wait for a person. */
  readonly waiting: readonly ListItem[];
  /** Conversations of the agent in which the customer wrote. */
  readonly written: readonly ListItem[];
}

export function newsSince(seen: SeenLists, escalated: ListPage, mine: ListPage): News {
  return {
    // If more waited than were seen, an unseen one is new only if it was written since.
    waiting: escalated.items.filter(
      ({ id, lastMessageAt }) => !seen.waiting.has(id) && (seen.isAll || lastMessageAt >= seen.at),
    ),
    written: mine.items.filter(
      ({ id, lastRole, lastMessageAt }) => lastRole === "user" && lastMessageAt > (seen.mine.get(id) ?? seen.at),
    ),
  };
}

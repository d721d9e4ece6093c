import type { Status } from "#domain/conversation/status.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { SlaState } from "#domain/conversation/sla.ts";
import type { Tx } from "#database/contract.ts";

/** The filter of a list of conversations; all conditions must hold. Ids must be parsed by `domain/ids`. */
export interface ConversationFilter {
  readonly workspaceId: string;
  readonly channel?: Channel;
  readonly status?: Status;
  readonly slaState?: SlaState;
  readonly tags?: readonly string[];
  /** Bounds of the start time in epoch milliseconds, exclusive. */
  readonly since?: number;
  readonly until?: number;
  /** The customer's whole e-mail address, case-insensitive. */
  readonly email?: string;
}

/** A position in the list, which is sorted by `startedAt` descending, then by id descending. */
export interface ListPosition {
  readonly startedAt: number;
  readonly id: string;
}

/** Full-text search of conversations, for `q`. */
export interface ConversationSearch {
  /**
   * Indexes the conversations' present text. Can be called after the transaction that stored the messages; until then
   * their words are not found.
   */
  index(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /**
   * Must be called when status, SLA state, tags or the customer's address changed, in the same transaction, after the rows
   * are written. Otherwise filtered searches miss the conversation until the next `index`.
   */
  refilter(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /** Must be called in the transaction that deletes the conversations. */
  remove(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /**
   * Deletes removed conversations at once from all indexes of an external search engine. False: the engine is away, and the
   * work queued by `remove` deletes them later. Absent without such an engine.
   */
  erase?(workspaceId: string, conversationIds: readonly string[]): Promise<boolean>;
  /**
   * Removes deleted text that the index still holds, in bounded steps; true while there is more. `first`: the first step.
   * Absent where deleted text is removed at once.
   */
  purge?(tx: Tx, first: boolean): Promise<boolean>;
  /**
   * Returns at most `limit` conversations after `before`, in the order of the list, that satisfy the filter and contain
   * every word of `text`. A phrase must be in one message, words anywhere in the conversation. Text without words matches
   * nothing; there are no operators and no syntax errors. Throws Problem `search_unavailable` when it takes too long.
   */
  find(
    filter: ConversationFilter,
    text: string,
    before: ListPosition | undefined,
    limit: number,
  ): Promise<readonly ListPosition[]>;
  /**
   * Like `find` without text, for a filter with several tags that are each on many conversations. Absent where the search
   * is not faster than the list.
   */
  findTagged?(
    filter: ConversationFilter,
    before: ListPosition | undefined,
    limit: number,
  ): Promise<readonly ListPosition[]>;
}

/** A search that can also confirm the results of another one. */
export interface DatabaseSearch extends ConversationSearch {
  /** The ones of these conversations that `find` would return, in any order. Reads only these rows, by key. */
  confirm(
    filter: ConversationFilter,
    text: string,
    before: ListPosition | undefined,
    conversationIds: readonly string[],
  ): Promise<readonly ListPosition[]>;
}

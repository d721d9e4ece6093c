import type { Status } from "#domain/conversation/status.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { SlaState } from "#domain/conversation/sla.ts";
import type { Tx } from "#database/contract.ts";

/** What a list of conversations is narrowed by; all of it must hold. Ids are as `domain/ids` parses them. */
export interface ConversationFilter {
  readonly workspaceId: string;
  readonly channel?: Channel;
  readonly status?: Status;
  readonly slaState?: SlaState;
  readonly tags?: readonly string[];
  /** Epoch milliseconds, both exclusive, of the start. */
  readonly since?: number;
  readonly until?: number;
  /** The customer's whole address, in any case. */
  readonly email?: string;
}

/** A place in the list, whose order is `startedAt` descending, then id descending. */
export interface ListPosition {
  readonly startedAt: number;
  readonly id: string;
}

/** Full text over conversations, for `q`. */
export interface ConversationSearch {
  /**
   * Brings the text of conversations up to their newest message, with edits and deletions. May come after the
   * transaction that stored the messages: until then their words are not found.
   */
  index(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /**
   * Status, SLA state, tags or the customer's address have changed: called in the same transaction, after the rows are
   * written. Without it, a search that is narrowed by what changed misses the conversation until the next `index`.
   */
  refilter(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /** The conversations are deleted in this transaction. */
  remove(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /**
   * Deletes removed conversations from a search engine outside at once, whichever index of it holds them. False: it does
   * not answer now, and does it with the work that `remove` has queued. Absent where there is no such engine.
   */
  erase?(workspaceId: string, conversationIds: readonly string[]): Promise<boolean>;
  /**
   * Removes what an index goes on holding of removed text, a bounded step at a time; true while there is more. `first`:
   * the first step. Absent where removed text is gone at once.
   */
  purge?(tx: Tx, first: boolean): Promise<boolean>;
  /**
   * At most `limit` conversations after `before` in the list's order that satisfy the filter and hold every word of
   * `text`; a phrase is found within one message, words anywhere in the conversation. Text without a word finds
   * nothing, and any text is taken as words: there are no operators and no errors of syntax. Throws Problem
   * `search_unavailable` when it would take too long.
   */
  find(
    filter: ConversationFilter,
    text: string,
    before: ListPosition | undefined,
    limit: number,
  ): Promise<readonly ListPosition[]>;
  /**
   * The same for a filter with several tags, each of them on many conversations. Absent where the search has no better
   * way than the list's own.
   */
  findTagged?(
    filter: ConversationFilter,
    before: ListPosition | undefined,
    limit: number,
  ): Promise<readonly ListPosition[]>;
}

/** A search that can also judge what another one has found. */
export interface DatabaseSearch extends ConversationSearch {
  /** Those of these conversations that `find` would give, in any order. Looks at them alone, by their keys. */
  confirm(
    filter: ConversationFilter,
    text: string,
    before: ListPosition | undefined,
    conversationIds: readonly string[],
  ): Promise<readonly ListPosition[]>;
}

import type { AgentWrites } from "./agents/agent-writes.ts";
import type { Query, QueryResult } from "./answering/query.ts";
import type { Upload, Uploaded } from "./attachments/upload.ts";
import type { Accepted, PrefetchedFile, InboundEvent } from "#channels/contract.ts";
import type { TypingParty } from "#channels/thread.ts";
import type { Actor, Channel } from "#domain/conversation/message.ts";
import type { PrefetchOptions, FileSource } from "./attachments/prefetch.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Trial, TrialResult } from "./trial/trial.ts";
import type { WindowView } from "./delivery/reroute/reply-window.ts";

/**
 * The only place that changes conversations. Each call is one transaction and resolves after the commit. Throws
 * `Problem` for errors that the caller can correct.
 */
export interface Engine extends AgentWrites {
  /** Stores an inbound event together with the work it causes. Rejects if the event could not be stored. */
  ingest(accountId: string, event: InboundEvent): Promise<Accepted>;
  /** Answers a question as for a new customer, and stores nothing. */
  tryQuestion(trial: Trial, signal: AbortSignal): Promise<TrialResult>;
  /** Answers an API query in this process. */
  query(query: Query, signal: AbortSignal): Promise<QueryResult>;
  /** Returns whether the channel can edit and delete replies that were already sent, and show agents' reactions. */
  editAbilities(accountId: string, channel: Channel): Promise<Readonly<Record<"edit" | "remove" | "react", boolean>>>;
  /** Stores a file for a later message. Throws Problem `payload_too_large`. */
  upload(upload: Upload, source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Uploaded>;
  /** Stores the files of a message before the message itself. A retry for the same message reuses them. */
  prefetchFiles(
    files: readonly FileSource[],
    to: Omit<Upload, "name" | "mediaType">,
    options: PrefetchOptions,
    signal: AbortSignal,
  ): Promise<readonly PrefetchedFile[]>;
  /** Deletes an upload that was not sent. */
  dropUpload(upload: { readonly workspaceId: string; readonly uploadedBy: string; readonly id: string }): Promise<void>;
  remove(workspaceId: string, conversationId: string, actor: Actor): Promise<void>;
  /** Updates SLA states that are due, so that filters on them are exact. */
  settleClocks(workspaceId: string): Promise<void>;
  /** Called while the customer types. The answer to an unfinished message waits for the rest. */
  customerTyping(accountId: string, thread: string): Promise<void>;
  /** Shows the customer a typing indicator. Not stored. */
  typing(workspaceId: string, conversationId: string, who: TypingParty): Promise<void>;
  /** Returns the reply window as agents see it, or null if the channel has none. */
  window(row: ConversationRow): Promise<WindowView | null>;
}

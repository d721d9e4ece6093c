import type { AgentReply, ConversationChange, NewNote, Note } from "./agents/requests.ts";
import type { Upload, Uploaded } from "./attachments/upload.ts";
import type { Accepted, PrefetchedFile, InboundEvent, Sender, VerifiedUser } from "#channels/contract.ts";
import type { TypingParty } from "#channels/thread.ts";
import type { Seen } from "#channels/desk/contract.ts";
import type { Actor, Channel, Confidence, Source } from "#domain/conversation/message.ts";
import type { Strictness } from "#domain/workspace/settings.ts";
import type { ActionResult, ActingAgent, Action } from "./agents/actions.ts";
import type { AgentMessageResult, AgentMessage } from "./agents/messages.ts";
import type { PrefetchOptions, FileSource } from "./attachments/prefetch.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { WindowView } from "./delivery/reply-window.ts";

/**
 * What can be done with conversations: the only place where their state changes. Each call is one transaction and
 * resolves when it is durable. Throws `Problem` where the caller can act.
 */
export interface Engine {
  /** A platform's event: stored with the work it causes. Rejects when it could not be stored. */
  ingest(accountId: string, event: InboundEvent): Promise<Accepted>;
  /** A question over the API, answered in this process. */
  query(query: Query, signal: AbortSignal): Promise<QueryResult>;
  /** An agent's reply; leaves on the channel the customer used. Claims an open or escalated conversation. */
  reply(reply: AgentReply): Promise<{ readonly messageId: string; readonly seq: number }>;
  /** Changes a conversation: all of it, or nothing. */
  update(workspaceId: string, conversationId: string, change: ConversationChange, actor: Actor): Promise<void>;
  /** Does what an agent at a desk asks for; `seen`: only if the conversation still stands so. */
  applyAction(
    workspaceId: string,
    conversationId: string,
    action: Action,
    agent: ActingAgent,
    seen?: Seen,
  ): Promise<ActionResult>;
  /** Says what an agent at the inbox says, by the same rules. */
  postAgentMessage(
    workspaceId: string,
    conversationId: string,
    words: AgentMessage,
    agent: ActingAgent,
  ): Promise<AgentMessageResult>;
  /** What can be done on this conversation's channel with a reply that was sent. */
  editsInProgress(accountId: string, channel: Channel): Promise<{ readonly edit: boolean; readonly remove: boolean }>;
  /** Stores a file for a message to come. Throws Problem `payload_too_large`. */
  upload(upload: Upload, source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Uploaded>;
  /** Stores files for a message that is told of again until it is stored; see {@link bringFiles}. */
  prefetchFiles(
    files: readonly FileSource[],
    to: Omit<Upload, "name" | "mediaType">,
    options: PrefetchOptions,
    signal: AbortSignal,
  ): Promise<readonly PrefetchedFile[]>;
  /** Takes back an upload that was not sent. */
  dropUpload(upload: { readonly workspaceId: string; readonly uploadedBy: string; readonly id: string }): Promise<void>;
  addNote(workspaceId: string, conversationId: string, note: NewNote, actor: Actor): Promise<Note>;
  remove(workspaceId: string, conversationId: string, actor: Actor): Promise<void>;
  /** Moves SLA states that are due now, so that a filter on them is exact. */
  settleClocks(workspaceId: string): Promise<void>;
  /** Shows the customer that somebody writes. Not stored. */
  typing(workspaceId: string, conversationId: string, who: TypingParty): Promise<void>;
  /** Until when a conversation's customer can be written to, for agents; null: at any time. */
  window(row: ConversationRow): Promise<WindowView | null>;
}

export interface Query {
  readonly workspaceId: string;
  /** Absent: a new conversation. */
  readonly conversationId?: string;
  readonly text: string;
  /** Present when a hash or a token proved who asks. */
  readonly user?: VerifiedUser;
  /** What the request says of that user beside a token that does not cover it. */
  readonly claimed?: Sender["claimed"];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly strictness?: Strictness;
  readonly topK?: number;
  /** For a language model, 0 to 1. */
  readonly temperature?: number;
  readonly documentIds?: readonly string[];
  /** Of the tags that the asker has, only these. */
  readonly audience?: readonly string[];
  /** The sender's own id of this question: the same id again is the same question, and gets the same answer. */
  readonly clientId?: string;
  readonly onToken?: (delta: string) => void;
}

export interface QueryResult {
  readonly answer: string;
  readonly sources: readonly Source[];
  readonly conversationId: string;
  readonly messageId: string | null;
  readonly skillsFired: readonly string[];
  readonly tokensUsed: number;
  readonly confidence: Confidence | null;
}

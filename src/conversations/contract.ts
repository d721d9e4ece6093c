import type { AgentReply, ConversationChange, NewNote, Note } from "./agents/requests.ts";
import type { Upload, Uploaded } from "./attachments/upload.ts";
import type { Accepted, PrefetchedFile, InboundEvent, Sender, VerifiedUser } from "#channels/contract.ts";
import type { TypingParty } from "#channels/thread.ts";
import type { Expected } from "#channels/desk/contract.ts";
import type { Actor, Channel, Confidence, Source } from "#domain/conversation/message.ts";
import type { Strictness } from "#domain/workspace/settings.ts";
import type { ActionResult, ActingAgent, Action } from "./agents/actions.ts";
import type { AgentMessageResult, AgentMessage } from "./agents/inbox-messages.ts";
import type { MacroRequest } from "./agents/macros.ts";
import type { PreviewedReply } from "./agents/preview-reply.ts";
import type { PrefetchOptions, FileSource } from "./attachments/prefetch.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Trial, TrialResult } from "./trial/trial.ts";
import type { WindowView } from "./delivery/reroute/reply-window.ts";

/**
 * The only place that changes conversations. Each call is one transaction and resolves after the commit. Throws
 * `Problem` for errors that the caller can correct.
 */
export interface Engine {
  /** Stores an inbound event together with the work it causes. Rejects if the event could not be stored. */
  ingest(accountId: string, event: InboundEvent): Promise<Accepted>;
  /** Answers a question as for a new customer, and stores nothing. */
  tryQuestion(trial: Trial, signal: AbortSignal): Promise<TrialResult>;
  /** Answers an API query in this process. */
  query(query: Query, signal: AbortSignal): Promise<QueryResult>;
  /** Queues an agent's reply for the customer's channel. Claims an open or escalated conversation. */
  reply(reply: AgentReply): Promise<{ readonly messageId: string; readonly seq: number }>;
  /** The messages that the customer would get for an agent's reply. */
  previewReply(workspaceId: string, conversationId: string, content: string): Promise<PreviewedReply>;
  /** Applies all fields of the change, or none. */
  update(workspaceId: string, conversationId: string, change: ConversationChange, actor: Actor): Promise<void>;
  /** Applies an agent's action. With `expected`, only if the conversation still has that state. */
  applyAction(
    workspaceId: string,
    conversationId: string,
    action: Action,
    agent: ActingAgent,
    expected?: Expected,
  ): Promise<ActionResult>;
  /** Does all actions of a macro, or none. Refused like {@link applyAction}, and its reply like {@link postAgentMessage}. */
  applyMacro(
    workspaceId: string,
    conversationId: string,
    request: MacroRequest,
    agent: ActingAgent,
  ): Promise<AgentMessageResult>;
  /** Posts an agent's message from the inbox. Refused if a colleague has the conversation, or a newer message exists. */
  postAgentMessage(
    workspaceId: string,
    conversationId: string,
    message: AgentMessage,
    agent: ActingAgent,
  ): Promise<AgentMessageResult>;
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
  addNote(workspaceId: string, conversationId: string, note: NewNote, actor: Actor): Promise<Note>;
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

export interface Query {
  readonly workspaceId: string;
  /** Absent to start a conversation. */
  readonly conversationId?: string;
  readonly text: string;
  /** Present if a hash or a token proved the user's identity. */
  readonly user?: VerifiedUser;
  /** Unproven details of the user: in the request, but not covered by the token. */
  readonly claimed?: Sender["claimed"];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly strictness?: Strictness;
  readonly topK?: number;
  /** The language model's temperature, 0 to 1. */
  readonly temperature?: number;
  readonly documentIds?: readonly string[];
  /** Restricts the user's audience tags to these. */
  readonly audience?: readonly string[];
  /** Idempotency key. A repeated id returns the first answer. */
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

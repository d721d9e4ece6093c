import type { Status } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Priority } from "#domain/conversation/sla.ts";
import type { NewNote } from "#conversations/transaction/note.ts";

export interface AgentReply {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly content: string;
  /** The agent's e-mail address. It need not belong to an agent of the workspace. */
  readonly authorEmail: string;
  /** The name shown to customers if the address does not belong to an agent of the workspace. */
  readonly authorName?: string;
  /** Idempotency key. A repeated id does not send a second reply. */
  readonly clientId?: string;
  /** The newest message the agent had read. The reply is refused if the customer or a colleague wrote later. */
  readonly basedOnSeq?: number;
  /** Ids of uploads from {@link Engine.upload}. With files, the content may be empty. */
  readonly files?: readonly string[];
  /** The id of the message that this one answers. */
  readonly refersTo?: string;
  /** The uploader. Other uploads are refused. */
  readonly uploadedBy?: string;
  readonly actor: Actor;
}

export type Snooze =
  | { readonly kind: "until_reply" }
  /** Epoch milliseconds. */
  | { readonly kind: "until"; readonly at: number };

export interface ConversationChange {
  readonly status?: Status;
  readonly assignedTo?: string;
  /** Also claims a conversation that a colleague snoozed. */
  readonly takeOver?: boolean;
  readonly snooze?: Snooze;
  /** Reopens a resolved conversation in its previous state, without a message to the customer. */
  readonly restore?: { readonly status: "open" | "escalated" | "claimed"; readonly snooze?: Snooze };
  /** Replaces all tags. Must be trimmed, lower-cased and without duplicates. */
  readonly tags?: readonly string[];
  /** Added to the current tags. */
  readonly addTags?: readonly string[];
  /** Removed from the current tags. */
  readonly removeTags?: readonly string[];
  readonly priority?: Priority;
  readonly notes?: readonly NewNote[];
  /** Idempotency key. A repeated id does not add the notes again. */
  readonly clientId?: string;
}

import type { Status } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Priority } from "#domain/conversation/sla.ts";

export interface AgentReply {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly content: string;
  /** The agent's address; created as an agent of the workspace is not needed. */
  readonly authorEmail: string;
  /** The name that customers see where the address is no agent's of the workspace. */
  readonly authorName?: string;
  /** The sender's own id of this reply: the same id again is the same reply. */
  readonly clientId?: string;
  /** The newest message that the agent had seen; refused when the customer or a colleague has written since. */
  readonly basedOnSeq?: number;
  /** Uploads of {@link Engine.upload} that go with it; the content may then be empty. */
  readonly files?: readonly string[];
  /** Who has uploaded them. */
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
  /** Claims it also from the colleague who has put it to sleep. */
  readonly takeOver?: boolean;
  readonly snooze?: Snooze;
  /** Reopens a resolved conversation in the state that it was resolved from, without telling the customer. */
  readonly restore?: { readonly status: "open" | "escalated" | "claimed"; readonly snooze?: Snooze };
  /** Replaces the set; already trimmed, lower-cased, without duplicates. */
  readonly tags?: readonly string[];
  /** Adds to the set. */
  readonly addTags?: readonly string[];
  /** Takes from the set. */
  readonly removeTags?: readonly string[];
  readonly priority?: Priority;
  readonly notes?: readonly NewNote[];
  /** The sender's own id of this change: its notes are not added again. */
  readonly clientId?: string;
}

export interface NewNote {
  readonly content: string;
  /** Null: the actor's own name. */
  readonly authorEmail: string | null;
  /** The sender's own id of this note, as `newId("req")` makes it: the same id again is the same note. */
  readonly clientId?: string;
  /** The people who work on the conversation's platform have it already, or need not see it. */
  readonly hereOnly?: true;
}

export interface Note {
  readonly id: string;
  readonly conversationId: string;
  readonly content: string;
  readonly author: string;
  readonly createdAt: number;
}

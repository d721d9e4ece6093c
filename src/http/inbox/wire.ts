import type { Block } from "#channels/text/markdown.ts";
import type { ShownForward } from "#conversations/references/forwarded.ts";
import type { ShownReference } from "#conversations/references/shown-references.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Channel, Confidence, Role, Source } from "#domain/conversation/message.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";
import type { MacroAction } from "#domain/workspace/macro.ts";

/** JSON between the inbox's server and its browser code. Times are epoch milliseconds. */

export const views = ["unassigned", "escalated", "open", "mine", "claimed", "snoozed", "resolved", "all"] as const;
export type View = (typeof views)[number];

/** A reply as the customer would get it, where that differs from what was typed: formatted, or as plain messages. */
export interface ReplyPreview {
  readonly blocks: readonly Block[] | null;
  readonly texts: readonly string[] | null;
}

export interface Person {
  readonly email: string;
  readonly name: string;
}

/** An agent to assign conversations to. */
export interface Colleague extends Person {
  readonly away: boolean;
}

/** A text that agents insert by name. */
export interface SavedReply {
  readonly name: string;
  readonly text: string;
}

/** Actions that agents apply at once. */
export interface MacroView {
  readonly name: string;
  /** Another text when the actions change. */
  readonly version: string;
  readonly actions: readonly MacroAction[];
  /** Why it cannot be applied. */
  readonly problems: readonly string[];
}

/** Order of waiting conversations: by SLA state and waiting time, or by their latest message. */
export const waitingOrders = ["urgency", "latest"] as const;
export type WaitingOrder = (typeof waitingOrders)[number];

export interface Me {
  readonly agent: Person & { readonly role: AgentRole; readonly waitingOrder: WaitingOrder };
  readonly workspace: { readonly id: string; readonly name: string };
  /** This agent can remove the built-in manual, which the bot still answers from. */
  readonly hasManual: boolean;
  /** Labels of channels, by name. */
  readonly channels: Readonly<Record<Channel, string>>;
  /** The server's time, so that countdowns do not depend on the agent's clock. */
  readonly now: number;
}

/** The state's own clock, so that the browser can count it down. */
export interface SlaView {
  readonly state: SlaState;
  readonly elapsedMs: number;
  /** Null while it is paused or stopped. */
  readonly runningSince: number | null;
  readonly targetMs: number;
}

export interface ListItem {
  readonly id: string;
  readonly channel: Channel;
  readonly status: Status;
  readonly priority: Priority;
  readonly customer: string;
  readonly assignee: Person | null;
  /** The customer's last message, or the last message if there is none. */
  readonly preview: { readonly role: Role; readonly text: string } | null;
  /** The author of the last message. */
  readonly lastRole: Role | null;
  readonly lastMessageAt: number;
  readonly startedAt: number;
  readonly snoozedUntil: number | null;
  readonly sla: SlaView;
  readonly tags: readonly string[];
}

/** Conversations of a view, 100 meaning "100 or more". */
export type Counts = Readonly<
  Record<"unassigned" | "mine" | "escalated" | "open" | "snoozed" | "skippedMessages", number>
>;

/** A message that became no conversation on purpose, such as a newsletter. */
export interface SkippedMessageView {
  readonly receivedAt: number;
  readonly account: string;
  readonly sender: string | null;
  readonly title: string;
  readonly reason: string;
}

export interface ListPage {
  readonly items: readonly ListItem[];
  readonly nextCursor: string | null;
  readonly now: number;
}

/** Delivery state of a message: the worst of its parts. */
export type Delivery = "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "unknown";

/** A file of a message. */
export interface FileView {
  readonly id: string;
  readonly name: string;
  readonly bytes: number | null;
  readonly state: "pending" | "stored" | "failed";
  readonly reason: string | null;
  /** For signed-in agents of the workspace; null until it is stored. */
  readonly url: string | null;
  /** A browser may show it as a picture. */
  readonly preview: boolean;
}

export interface ReactionView {
  readonly emoji: string;
  readonly role: "user" | "agent";
  /** Null: the conversation's customer. */
  readonly author: string | null;
}

export interface MessageView {
  readonly id: string;
  readonly seq: number;
  readonly role: Role;
  readonly author: string | null;
  readonly content: readonly Block[];
  readonly refersTo: ShownReference | null;
  /** Null: the sender's own words. */
  readonly forwarded: ShownForward | null;
  readonly createdAt: number;
  readonly edited: boolean;
  readonly deleted: boolean;
  readonly confidence: Confidence | null;
  readonly sources: readonly Source[];
  /** Customers' thumbs for an answer of the bot. */
  readonly thumbs: { readonly up: number; readonly down: number };
  readonly reactions: readonly ReactionView[];
  /** Null for messages without a delivery: those of customers, and on the channel `api`. */
  readonly delivery: { readonly state: Delivery; readonly error: string | null } | null;
  /** No part was sent yet, so it can be changed on every channel. */
  readonly unsent: boolean;
  readonly files: readonly FileView[];
  /** Markdown of the signed-in agent's own reply; null for other messages. */
  readonly own: string | null;
  /** A change that is not yet made on the platform. */
  readonly changing: "edit" | "remove" | null;
}

export interface NoteView {
  readonly id: string;
  readonly author: string;
  readonly content: readonly Block[];
  readonly createdAt: number;
}

export interface AuditView {
  readonly id: string;
  readonly action: string;
  readonly actor: string;
  /** Done by a rule or a timer, which `actor` names. */
  readonly automatic: boolean;
  readonly from: string | null;
  readonly to: string | null;
  readonly detail: string | null;
  readonly createdAt: number;
}

export interface ConversationView {
  readonly id: string;
  readonly channel: Channel;
  readonly status: Status;
  readonly snoozedFrom: Status | null;
  readonly snoozedUntil: number | null;
  readonly priority: Priority;
  readonly assignee: Person | null;
  readonly customer: {
    readonly contactId: string;
    readonly label: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly phone: string | null;
    /** The identity is proven. */
    readonly verified: boolean;
    /** Values from the company or the platform, not from the customer. */
    readonly verifiedFields: readonly ("name" | "email" | "phone")[];
    /** The page of the last message. */
    readonly page: string | null;
  };
  readonly sla: SlaView;
  readonly tags: readonly string[];
  readonly startedAt: number;
  readonly lastMessageAt: number;
  readonly resolvedAt: number | null;
  readonly lastSeq: number;
  /** Changes of sent replies that the channel supports, and reactions to customers' messages. */
  readonly amendable: { readonly edit: boolean; readonly remove: boolean; readonly react: boolean };
  /** The reply window and the effect of a reply after it; null: no window. */
  readonly window: {
    readonly isOpen: boolean;
    readonly closesAt: number | null;
    readonly closed: string | null;
  } | null;
  /** The reason why the customer cannot be reached; null: reachable. */
  readonly unreachable: string | null;
  readonly messages: readonly MessageView[];
  /** There are messages before the first of `messages`. */
  readonly hasEarlier: boolean;
  readonly notes: readonly NoteView[];
  readonly audit: readonly AuditView[];
  /** The customer's other conversations, newest first. */
  readonly others: readonly {
    readonly id: string;
    readonly status: Status;
    readonly channel: Channel;
    readonly startedAt: number;
  }[];
  readonly now: number;
}

/** Consecutive messages of a conversation, in order. */
export interface MessagePage {
  readonly messages: readonly MessageView[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
}

/** The most messages of one conversation that the inbox holds at a time. */
export const messagesShownMax = 300;

export type LiveEvent =
  | { readonly kind: "changed"; readonly conversationId: string }
  /** A colleague, or (`by` null) a rule or the API, assigned the conversation to this agent. */
  | {
      readonly kind: "assigned";
      readonly conversationId: string;
      readonly by: string | null;
      readonly customer: string;
    }
  | { readonly kind: "typing"; readonly conversationId: string };

/** Most conversations in one bulk change. */
export const bulkMax = 100;

/** Result for one of several conversations. `refused` null: done. */
export interface BulkResult {
  readonly id: string;
  readonly refused: string | null;
}

/** The body of every response that is not a 2xx. */
export interface Refusal {
  readonly detail: string;
  readonly code: string;
  readonly request_id: string;
  /** With `claimed_by_other`: the owner. */
  readonly assignee?: Person;
  /** With `stale_view`: the newer messages. */
  readonly newer?: readonly MessageView[];
}

import type { Block } from "#channels/text/markdown.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Channel, Confidence, Role, Source } from "#domain/conversation/message.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";

/** What the inbox's server and its browser code say to each other. Times are epoch milliseconds. */

export const views = ["unassigned", "mine", "claimed", "escalated", "open", "snoozed", "resolved", "all"] as const;
export type View = (typeof views)[number];

export interface Person {
  readonly email: string;
  readonly name: string;
}

/** Whom a conversation can be assigned to. */
export interface Colleague extends Person {
  readonly away: boolean;
}

/** A text that agents insert by its name. */
export interface SavedReply {
  readonly name: string;
  readonly text: string;
}

/** How those that wait are sorted: by SLA state and then by how long they have waited, or by their latest message. */
export const waitingOrders = ["urgency", "latest"] as const;
export type WaitingOrder = (typeof waitingOrders)[number];

export interface Me {
  readonly agent: Person & { readonly role: "agent" | "admin"; readonly waitingOrder: WaitingOrder };
  readonly workspace: { readonly id: string; readonly name: string };
  /** This agent can remove the built-in manual, which the bot still answers from. */
  readonly hasManual: boolean;
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
  /** The customer's last words; where they have written none, the last message. */
  readonly preview: { readonly role: Role; readonly text: string } | null;
  /** Who wrote the last message. */
  readonly lastRole: Role | null;
  readonly lastMessageAt: number;
  readonly startedAt: number;
  readonly snoozedUntil: number | null;
  readonly sla: SlaView;
  readonly tags: readonly string[];
}

/** Conversations of a view, 100 meaning "100 or more". */
export type Counts = Readonly<Record<"unassigned" | "mine" | "escalated" | "open" | "snoozed", number>>;

export interface ListPage {
  readonly items: readonly ListItem[];
  readonly nextCursor: string | null;
  readonly now: number;
}

/** What is known of a message's way to the customer; of several parts, the one that is worst off. */
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

export interface MessageView {
  readonly id: string;
  readonly seq: number;
  readonly role: Role;
  readonly author: string | null;
  readonly content: readonly Block[];
  readonly createdAt: number;
  readonly edited: boolean;
  readonly deleted: boolean;
  readonly confidence: Confidence | null;
  readonly sources: readonly Source[];
  /** Null for what needs no sending: the customer's own messages, and those that are fetched over the API. */
  readonly delivery: { readonly state: Delivery; readonly error: string | null } | null;
  /** No platform has been asked for any part of it yet: whatever the channel can, it still goes out as it is by then. */
  readonly unsent: boolean;
  readonly files: readonly FileView[];
  /** The Markdown of a reply of the agent who looks at it; null of all other messages. */
  readonly own: string | null;
  /** What is about to become of it where the customer sees it. */
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
  /** Nobody did it: the clock, or a rule. `actor` then says which. */
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
    readonly label: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly phone: string | null;
    /** Whether it is proven who they are. */
    readonly verified: boolean;
    /** Which of these values are the company's or the platform's, and not their own words. */
    readonly verifiedFields: readonly ("name" | "email" | "phone")[];
    /** The page that they last wrote from. */
    readonly page: string | null;
  };
  readonly sla: SlaView;
  readonly tags: readonly string[];
  readonly startedAt: number;
  readonly lastMessageAt: number;
  readonly resolvedAt: number | null;
  readonly lastSeq: number;
  /** What this channel lets an agent do with a reply that was sent. */
  readonly amendable: { readonly edit: boolean; readonly remove: boolean };
  /** Until when the customer can be written to freely, and what becomes of a reply after it; null: at any time. */
  readonly window: {
    readonly isOpen: boolean;
    readonly closesAt: number | null;
    readonly closed: string | null;
  } | null;
  /** Why nothing that is sent reaches the customer; null: it does. */
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
  /** A colleague, or (`by` null) a rule or the API, has given the conversation to whoever hears this. */
  | {
      readonly kind: "assigned";
      readonly conversationId: string;
      readonly by: string | null;
      readonly customer: string;
    }
  | { readonly kind: "typing"; readonly conversationId: string };

/** How many conversations can be changed at once. */
export const bulkMax = 100;

/** What became of one of several conversations; `refused` null: it is done. */
export interface BulkResult {
  readonly id: string;
  readonly refused: string | null;
}

/** The body of every answer that is not a 2xx. */
export interface Refusal {
  readonly detail: string;
  readonly code: string;
  readonly request_id: string;
  /** `claimed_by_other`: who has it. */
  readonly assignee?: Person;
  /** `stale_view`: what was written since. */
  readonly newer?: readonly MessageView[];
}

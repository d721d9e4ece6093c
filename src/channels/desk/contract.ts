import type { Status } from "#domain/conversation/status.ts";
import type { Channel, Confidence, Role, Source } from "#domain/conversation/message.ts";
import type { AgentReactionSign } from "#domain/conversation/reaction.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";
import type { DeskReplyMode } from "#domain/workspace/settings.ts";

/**
 * A place where agents work, with one thread per conversation. A desk shows items and reports agents' actions; it makes
 * no decisions and stores nothing that it cannot lose. Its calls fail by `DeliveryError`, as those of a channel do:
 * `not_sent` is retried without limit; after `unknown` the program calls {@link Desk.find}; `rejected` means that the
 * item can never be shown. `ThreadGone` starts a new thread.
 */
export interface Desk {
  /** The largest file that a thread can show, in bytes; 0: none. */
  readonly fileBytesMax: number;
  /** Returns the platform calls that show the item, in order. Pure; must not truncate. */
  render(item: DeskItem): readonly DeskPart[];
  /**
   * Posts the card that starts a thread, in one of {@link DeskHost.channels}. Returns the platform's id of the thread, at
   * most 190 characters.
   */
  open(channel: string, card: DeskConversation, context: DeskContext): Promise<string>;
  /** Updates the card. */
  update(thread: string, card: DeskConversation, context: DeskContext): Promise<void>;
  /** Makes one call in a thread. Returns the platform's id of the post, at most 190 characters. */
  post(thread: string, part: DeskPart, context: DeskContext): Promise<string>;
  /** Replaces a post. */
  change(messageId: string, part: DeskPart, context: DeskContext): Promise<void>;
  /** Shows the delivery status of a reply, posted by Parley or by an agent. Must be idempotent. */
  mark(messageId: string, mark: DeskMark, context: DeskContext): Promise<void>;
  /** Removes a post of Parley. Succeeds if the post no longer exists. */
  remove(messageId: string, context: DeskContext): Promise<void>;
  /**
   * Returns the post made under this key since then, in a thread or as a card in a channel; null when it was certainly
   * not made. Throws `ChannelGone` where the program cannot see the channel.
   */
  find(place: DeskPlace, context: DeskContext, since: number): Promise<string | null>;
  /** Identifies a person. Throws `DeliveryError` when the platform does not answer. */
  person(by: string, signal: AbortSignal): Promise<DeskPerson>;
  /** Shows a notice to one person alone. */
  notify(by: string, place: string, notice: DeskNotice, context: DeskContext): Promise<void>;
  /** Returns the places of the desk in words for an operator. Throws an Error whose message names the remedy. */
  check(signal: AbortSignal): Promise<string>;
}

export interface DeskContext {
  /** The same on every retry, different for every other call; at most 64 ASCII characters. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** Returns the bytes of a file by its id; present for items of files. Throws as the desk itself does. */
  readonly file?: (id: string) => Promise<AsyncIterable<Uint8Array>>;
}

export type DeskPlace = { readonly thread: string } | { readonly channel: string };

/** One platform call, as JSON. */
export interface DeskPart {
  readonly text: string;
  readonly payload: unknown;
}

export type DeskPerson =
  /** `email` in lower case. `timeZone`: an IANA name; null: unknown. */
  | { readonly kind: "agent"; readonly email: string; readonly name: string; readonly timeZone: string | null }
  /** A guest, a person of another company, or a program. Their actions are refused with this reason. */
  | { readonly kind: "stranger"; readonly reason: string };

/** A conversation in the form that a card shows. Times are epoch milliseconds. */
export interface DeskConversation {
  readonly id: string;
  /** The conversation in the inbox. */
  readonly url: string;
  readonly channel: Channel;
  readonly status: Status;
  readonly priority: Priority;
  readonly assignee: { readonly email: string; readonly name: string } | null;
  readonly customer: {
    readonly label: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly phone: string | null;
    /** Whether the customer's identity is proven. */
    readonly verified: boolean;
    readonly verifiedFields: readonly ("name" | "email" | "phone")[];
  };
  /** `dueAt`: when the target is reached; null while the clock is paused, with `leftMs` left. */
  readonly sla: { readonly state: SlaState; readonly dueAt: number | null; readonly leftMs: number };
  /** The reply window and the text about a reply after its end; null: no window. */
  readonly window: {
    readonly isOpen: boolean;
    readonly closesAt: number | null;
    readonly closed: string | null;
  } | null;
  readonly tags: readonly string[];
  readonly startedAt: number;
  /** Null while snoozed: until the customer replies. */
  readonly snoozedUntil: number | null;
  /** The beginning of what led to the hand-over, in one line, or of the first message. */
  readonly question: string;
  /** The platform's id of the thread; null when the desk has none. */
  readonly thread: string | null;
}

export interface DeskMessage {
  readonly role: Role;
  readonly authorName: string | null;
  /** Plain text from customers, Markdown from others. */
  readonly text: string;
  /** The beginning of the earlier message that the customer answers, as plain text; null: none. */
  readonly refersTo: string | null;
  /** Somebody else's words. `from`: their author, if the platform names one. Null: the sender's own. */
  readonly forwarded: { readonly from: string | null } | null;
  /** Names of the attachments; each file is an item of its own. */
  readonly files: readonly string[];
  readonly sources: readonly Source[];
  readonly confidence: Confidence | null;
  readonly createdAt: number;
  readonly edited: boolean;
  readonly deleted: boolean;
}

export type DeskItem =
  | { readonly kind: "message"; readonly message: DeskMessage }
  /** The messages before the thread was opened. `earlier`: the number of older messages that are left out. */
  | { readonly kind: "transcript"; readonly messages: readonly DeskMessage[]; readonly earlier: number }
  | { readonly kind: "note"; readonly author: string; readonly text: string }
  /** A single part, with the bytes from {@link DeskContext.file}. `of`: the author of the file's message. */
  | { readonly kind: "file"; readonly file: ShownFile; readonly of: Pick<DeskMessage, "role" | "authorName"> }
  /** An event of the conversation, as plain text. */
  | { readonly kind: "event"; readonly text: string };

export interface ShownFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

export type DeskMark = "arrived" | "failed";

/** A notice to one person, as plain text. */
export interface DeskNotice {
  readonly text: string;
  /** The options for an agent's text that was not sent to the customer. */
  readonly choices?: {
    readonly conversationId: string;
    readonly messageId: string;
    readonly options: readonly DraftChoice[];
  };
}

/** The decision on a draft that was held back. */
export type DraftChoice = "send" | "take_over" | "note";

/**
 * The conversation's state on which an agent's action is based. The action is refused if the state has changed since.
 */
export interface Expected {
  readonly status: Status;
  readonly assignedTo: string | null;
}

export type DeskAsk =
  | { readonly kind: "claim" | "take_over" | "release" | "resolve" | "archive" | "reopen" }
  | { readonly kind: "snooze"; readonly until: SnoozeEnd }
  | { readonly kind: "tag"; readonly add: readonly string[]; readonly remove: readonly string[] }
  | { readonly kind: "note"; readonly text: string }
  /** A reply to the customer's message that this post shows. `text`: Markdown. */
  | { readonly kind: "reply"; readonly messageId: string; readonly text: string };

/** `morning`: tomorrow at nine in the agent's time zone. `at`: epoch milliseconds. */
export type SnoozeEnd =
  | { readonly kind: "hours"; readonly hours: number }
  | { readonly kind: "morning" }
  | { readonly kind: "reply" }
  | { readonly kind: "at"; readonly at: number };

interface DeskEventBase {
  /** The platform's id of this event, unique within the account, at most 180 characters. Used for deduplication. */
  readonly externalId: string;
  /** The platform's id of the person. */
  readonly by: string;
  /** The address of notices to this person; opaque to the host, at most 500 characters. */
  readonly place: string;
}

/** An attached file. `ref`: passed to the account's adapter to fetch it; stored encrypted, never shown. */
export interface DeskFile {
  readonly ref: string;
  readonly name: string;
  readonly mediaType: string;
  /** Null: the platform does not say. */
  readonly bytes: number | null;
}

/** An action of a person at a desk. */
export type DeskEvent =
  /** `text`: Markdown. */
  | (DeskEventBase & {
      readonly kind: "wrote";
      readonly thread: string;
      readonly messageId: string;
      readonly text: string;
      readonly files: readonly DeskFile[];
      /** The parts of the text that are not sent to the customer, in sentences for its writer. */
      readonly unsent?: readonly string[];
    })
  | (DeskEventBase & {
      readonly kind: "edited";
      readonly thread: string;
      readonly messageId: string;
      readonly text: string;
      /** The edit with the highest revision counts, in any order of arrival. */
      readonly revision: number;
    })
  | (DeskEventBase & { readonly kind: "removed"; readonly thread: string; readonly messageId: string })
  /** `seen` absent: the action does not depend on the state. `confirm`: the person is also notified of success. */
  | (DeskEventBase & {
      readonly kind: "asked";
      readonly conversationId: string;
      readonly ask: DeskAsk;
      readonly seen?: Expected;
      readonly confirm?: boolean;
    })
  /** A reaction to a post, or its removal. Only posts that show a customer's message count. */
  | (DeskEventBase & {
      readonly kind: "reacted";
      readonly conversationId: string;
      readonly messageId: string;
      readonly emoji: AgentReactionSign;
      readonly isAdded: boolean;
    })
  /** The decision on a draft that was held back. */
  | (DeskEventBase & {
      readonly kind: "chose";
      readonly conversationId: string;
      readonly messageId: string;
      readonly choice: DraftChoice;
    });

export type DeskView =
  | { readonly kind: "mine"; readonly email: string }
  | { readonly kind: "open" }
  | { readonly kind: "search"; readonly text: string };

/** The program's functions for a desk. */
export interface DeskHost {
  /** The platform's ids of the desk's channels: that of all conversations first, then those of single teams. */
  readonly channels: readonly string[];
  readonly replyMode: DeskReplyMode;
  /** Resolves when the event is durable; acknowledge only after. Rejects when it is not: do not acknowledge. */
  accept(event: DeskEvent): Promise<{ readonly duplicate: boolean }>;
  /** The conversation of this thread; null when the thread is not Parley's. */
  conversationOf(thread: string): Promise<string | null>;
  /** The conversation of this post, which shows a message; null for other posts. */
  conversationOfPost(messageId: string): Promise<string | null>;
  conversation(id: string): Promise<DeskConversation | null>;
  list(view: DeskView, limit: number): Promise<readonly DeskConversation[]>;
}

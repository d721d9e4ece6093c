import type { Status } from "#domain/conversation/status.ts";
import type { Channel, Confidence, Role, Source } from "#domain/conversation/message.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";
import type { DeskReplyMode } from "#domain/workspace/settings.ts";

/**
 * A place where agents work: one thread a conversation. A desk shows what it is given, and passes on what people do
 * there; it decides nothing and keeps nothing that it cannot lose. Its calls fail as those of a channel do, by
 * `DeliveryError`: `not_sent` is tried again, for ever; after `unknown` it is asked by {@link Desk.find}; `rejected` is
 * for what can never be shown. `ThreadGone` begins another thread.
 */
export interface Desk {
  /** The largest file that a thread can show, in bytes; 0 where it shows none. */
  readonly fileBytesMax: number;
  /** The platform calls that show this, in order. Pure; cuts nothing off. */
  render(item: DeskItem): readonly DeskPart[];
  /** Posts the card that begins a thread; the platform's id of the thread, at most 190 characters. */
  open(card: DeskConversation, context: DeskContext): Promise<string>;
  /** Brings the card up to date. */
  update(thread: string, card: DeskConversation, context: DeskContext): Promise<void>;
  /** Makes one call in a thread; the platform's id of what is shown, at most 190 characters. */
  post(thread: string, part: DeskPart, context: DeskContext): Promise<string>;
  /** Shows something else in place of what was posted. */
  change(messageId: string, part: DeskPart, context: DeskContext): Promise<void>;
  /** Shows on a reply, whoever posted it there, what became of it. The same again changes nothing. */
  mark(messageId: string, mark: DeskMark, context: DeskContext): Promise<void>;
  /** Takes back what we have posted; done as well when it is not there any more. */
  remove(messageId: string, context: DeskContext): Promise<void>;
  /** What was posted under this key since then, in a thread or (null) as a card; null when it surely was not. */
  find(thread: string | null, context: DeskContext, since: number): Promise<string | null>;
  /** Who somebody is. Throws `DeliveryError` when it cannot be told now. */
  person(by: string, signal: AbortSignal): Promise<DeskPerson>;
  /** Says something to one person alone. */
  notify(by: string, place: string, notice: DeskNotice, context: DeskContext): Promise<void>;
  /** Where it works, in words for an operator. Throws an Error whose message tells the mend. */
  check(signal: AbortSignal): Promise<string>;
}

export interface DeskContext {
  /** The same on every retry, different for everything else; at most 64 ASCII characters. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** The bytes of a file that is shown, by its id; present where one is. Throws as the desk itself does. */
  readonly file?: (id: string) => Promise<AsyncIterable<Uint8Array>>;
}

/** One platform call, as JSON. */
export interface DeskPart {
  readonly text: string;
  readonly payload: unknown;
}

export type DeskPerson =
  /** `email` in lower case. `timeZone`: an IANA name; null when it is not known. */
  | { readonly kind: "agent"; readonly email: string; readonly name: string; readonly timeZone: string | null }
  /** A guest, somebody of another company, a program: not to be listened to, and why. */
  | { readonly kind: "stranger"; readonly reason: string };

/** A conversation as a card shows it. Times are epoch milliseconds. */
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
    /** Whether it is proven who they are. */
    readonly verified: boolean;
    readonly verifiedFields: readonly ("name" | "email" | "phone")[];
  };
  /** `dueAt`: when the target is reached; null while the clock stands still, with `leftMs` left. */
  readonly sla: { readonly state: SlaState; readonly dueAt: number | null; readonly leftMs: number };
  /** Until when the customer can be written to freely, and what becomes of a reply after it; null: at any time. */
  readonly window: {
    readonly isOpen: boolean;
    readonly closesAt: number | null;
    readonly closed: string | null;
  } | null;
  readonly tags: readonly string[];
  readonly startedAt: number;
  /** Null while snoozed: until the customer replies. */
  readonly snoozedUntil: number | null;
  /** How it began, shortened. */
  readonly question: string;
  /** The platform's id of its thread; null when it has none at this desk. */
  readonly thread: string | null;
}

export interface DeskMessage {
  readonly role: Role;
  readonly authorName: string | null;
  /** Of customers plain text, else Markdown. */
  readonly text: string;
  /** What came with it, by name; each file is an item of its own. */
  readonly files: readonly string[];
  readonly sources: readonly Source[];
  readonly confidence: Confidence | null;
  readonly createdAt: number;
  readonly edited: boolean;
  readonly deleted: boolean;
}

export type DeskItem =
  | { readonly kind: "message"; readonly message: DeskMessage }
  /** What was said before there was a thread. `earlier`: how many more there are before these. */
  | { readonly kind: "transcript"; readonly messages: readonly DeskMessage[]; readonly earlier: number }
  | { readonly kind: "note"; readonly author: string; readonly text: string }
  /** One part, whose bytes {@link DeskContext.file} gives. `of`: whose message it came with. */
  | { readonly kind: "file"; readonly file: ShownFile; readonly of: Pick<DeskMessage, "role" | "authorName"> }
  /** Something that happened, as plain text. */
  | { readonly kind: "event"; readonly text: string };

export interface ShownFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

export type DeskMark = "arrived" | "failed";

/** What only one person is told, as plain text. */
export interface DeskNotice {
  readonly text: string;
  /** What they may do about a text of theirs that has not gone to the customer. */
  readonly choices?: {
    readonly conversationId: string;
    readonly messageId: string;
    readonly options: readonly DraftChoice[];
  };
}

/** What becomes of a text that was kept back. */
export type DraftChoice = "send" | "take_over" | "note";

/** How a conversation stood when somebody decided to change it: the first change wins. */
export interface Seen {
  readonly status: Status;
  readonly assignedTo: string | null;
}

export type DeskAsk =
  | { readonly kind: "claim" | "take_over" | "release" | "resolve" | "archive" | "reopen" }
  | { readonly kind: "snooze"; readonly until: SnoozeEnd }
  | { readonly kind: "tag"; readonly add: readonly string[]; readonly remove: readonly string[] }
  | { readonly kind: "note"; readonly text: string };

/** `morning`: tomorrow at nine, where the agent is. `at`: epoch milliseconds. */
export type SnoozeEnd =
  | { readonly kind: "hours"; readonly hours: number }
  | { readonly kind: "morning" }
  | { readonly kind: "reply" }
  | { readonly kind: "at"; readonly at: number };

interface DeskEventBase {
  /** The platform's id of this event, unique within the account, at most 180 characters: the key of deduplication. */
  readonly externalId: string;
  /** The platform's id of who did it. */
  readonly by: string;
  /** Where they hear of what came of it; opaque to the host, at most 500 characters. */
  readonly place: string;
}

/** A file that somebody sends along. `ref`: by which the account's adapter fetches it; stored sealed, never shown. */
export interface DeskFile {
  readonly ref: string;
  readonly name: string;
  readonly mediaType: string;
  /** null: the platform does not say. */
  readonly bytes: number | null;
}

/** What people do at a desk. */
export type DeskEvent =
  /** `text`: Markdown. */
  | (DeskEventBase & {
      readonly kind: "wrote";
      readonly thread: string;
      readonly messageId: string;
      readonly text: string;
      readonly files: readonly DeskFile[];
      /** What of it goes to no customer, in sentences for its writer. */
      readonly unsent?: readonly string[];
    })
  | (DeskEventBase & {
      readonly kind: "edited";
      readonly thread: string;
      readonly messageId: string;
      readonly text: string;
      /** Of several edits of a text the one with the highest counts, in whatever order they come. */
      readonly revision: number;
    })
  | (DeskEventBase & { readonly kind: "removed"; readonly thread: string; readonly messageId: string })
  /** `seen` absent: whatever the state is. `confirm`: success is told too. */
  | (DeskEventBase & {
      readonly kind: "asked";
      readonly conversationId: string;
      readonly ask: DeskAsk;
      readonly seen?: Seen;
      readonly confirm?: boolean;
    })
  /** What is to become of a text that was kept back. */
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

/** All that a desk may ask of the program around it. */
export interface DeskHost {
  /** Where it works, in the platform's own words. */
  readonly channel: string;
  readonly replyMode: DeskReplyMode;
  /** Resolves when the event is durable; acknowledge only after. Rejects when it is not: do not acknowledge. */
  accept(event: DeskEvent): Promise<{ readonly duplicate: boolean }>;
  /** The conversation whose thread this is; null when it is none of ours. */
  conversationOf(thread: string): Promise<string | null>;
  conversation(id: string): Promise<DeskConversation | null>;
  list(view: DeskView, limit: number): Promise<readonly DeskConversation[]>;
}

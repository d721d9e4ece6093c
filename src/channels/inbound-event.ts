import type { Score } from "#domain/conversation/message.ts";
import type { VerifiedUser } from "#domain/customer/user-token.ts";

/** A customer as the platform names them. */
export interface Sender {
  /** The platform's own id: opaque, case-sensitive, at most 190 characters. */
  readonly key: string;
  readonly name?: string;
  /** Present when the company's own signature proves who this is; only values that it covers. */
  readonly verified?: VerifiedUser;
  /**
   * Addresses that the platform itself has verified: the number of a WhatsApp sender, or an address whose mail passed
   * its domain's checks. They connect one customer's channels, so they must never come from typed text.
   */
  readonly proven?: { readonly email?: string; readonly phone?: string };
  /** Claims of the customer: shown to agents, never used to connect channels. */
  readonly claimed?: { readonly name?: string; readonly email?: string; readonly phone?: string };
}

/** An earlier message of the thread, as the platform names it. */
export interface Reference {
  /** The ids that it may have here: as a receipt gives it, and as an event does. */
  readonly externalIds: readonly string[];
  /** Its id here, from a {@link ThreadMessage}, instead of `externalIds`. */
  readonly messageId?: string;
  /** The text that the platform repeats. It is shown where the message is not known here. */
  readonly text?: string;
  /** Every answer names the message before it, as mails do: it means nothing where that is the latest one. */
  readonly isUsual?: true;
  /** `text` is the part that the customer has chosen to quote. */
  readonly isQuote?: true;
}

/** Words that somebody else wrote, and the customer passes on. */
export interface Forwarded {
  /** Their author, as the platform names them. */
  readonly from?: string;
  /**
   * The customer's own words come first, and the others follow as `forwardedText` has them. Absent: the whole text was
   * forwarded.
   */
  readonly isBelow?: true;
}

interface InboundBase {
  /** The platform's id of this event, unique within the account: the key of deduplication. At most 190 characters. */
  readonly externalId: string;
  /** The platform's own thread, at most 190 characters. Each has one conversation. */
  readonly thread: string;
  readonly sender: Sender;
  /** The platform's time of the event, epoch milliseconds. */
  readonly sentAt: number;
}

export type InboundEvent =
  | (InboundBase & {
      readonly kind: "message";
      /** Plain text as the customer wrote it. */
      readonly text: string;
      /** The platform's id of the message, if different from the event's. */
      readonly messageExternalId?: string;
      readonly metadata?: Readonly<Record<string, unknown>>;
      /** Attachments, at most 20. The host fetches them once the message is stored. The text may be empty then. */
      readonly files?: readonly InboundFile[];
      /**
       * Events with the same key in a thread form one message, such as the pictures of an album: their files are
       * joined, and the bot waits a little for the rest. At most 190 characters. A text that arrives after that wait is
       * a message of its own. `joinsOnly`: stored only if another event of the group is a message, possibly a later
       * one.
       */
      readonly group?: { readonly key: string; readonly joinsOnly?: boolean };
      /** Ids by which later messages may refer to this one, such as a Message-ID; at most 190 characters each. */
      readonly messageRefs?: readonly string[];
      /**
       * The thread's address can be passed on, as a reply address can, so a sender who is not its customer writes as a
       * guest. Agents answer a guest's message, and the conversation stays with its customer.
       */
      readonly checkSender?: true;
      /** The earlier message that this one answers on the platform. */
      readonly refersTo?: Reference;
      /** The text has somebody else's words: they are answered, but they are no wish or rating of the customer. */
      readonly forwarded?: Forwarded;
      /** The customer chose the text from a list, so the answer does not wait for the rest of it. */
      readonly chosen?: true;
      /** The customer has requested a person by a button, not by words. */
      readonly wantsPerson?: true;
      /** The reason why the bot must not answer this message; agents answer it. Shown to agents. */
      readonly peopleOnly?: string;
      /** Ends a conversation of two programs. Absent: the limit of every channel, in this thread. */
      readonly botLimit?: BotLimit;
    })
  /** A message that an agent wrote to the customer with the platform's own tools. */
  | {
      readonly kind: "agent";
      readonly externalId: string;
      readonly thread: string;
      readonly sentAt: number;
      readonly author: { readonly email: string; readonly name: string | null };
      /** Markdown. */
      readonly text: string;
      readonly messageExternalId?: string;
      readonly metadata?: Readonly<Record<string, unknown>>;
      readonly messageRefs?: readonly string[];
      /** Attachments, as in a customer's message. Files of `parts` are uploads, and are listed here too. */
      readonly files?: readonly InboundFile[];
      /** Parts that still have to be sent to the customer; absent: the customer has the message. */
      readonly parts?: readonly Part[];
    }
  /** A note for the agents of a thread. Ignored if the thread has no conversation. */
  | {
      readonly kind: "notice";
      readonly externalId: string;
      readonly thread: string;
      readonly sentAt: number;
      readonly text: string;
      /** The author on the platform; absent: none. */
      readonly author?: { readonly email: string };
    }
  /**
   * The platform's agents have changed the conversation's status or owner. Ignored if the thread has no conversation.
   * The change is not sent back to the platform.
   */
  | {
      readonly kind: "state";
      readonly externalId: string;
      readonly thread: string;
      readonly sentAt: number;
      /**
       * `taken`: by `by`. `released`: the bot may answer again. `ours`: an echo of Parley's own change; only its order
       * counts.
       */
      readonly change: PlatformStatus | { readonly kind: "taken" | "released" } | { readonly kind: "ours" };
      /** Null: no person. */
      readonly by: { readonly email: string; readonly name: string | null } | null;
      /**
       * The order of changes of a thread, compared as text. An earlier change that arrives late is ignored. At most 100
       * characters.
       */
      readonly order: string;
    }
  | (InboundBase & {
      readonly kind: "edit";
      readonly messageExternalId: string;
      readonly text: string;
      /** The message's files after the edit. New ones are added, recognised by {@link InboundFile.key}. */
      readonly files?: readonly InboundFile[];
      /** Ignored, and its text is not stored, if the message does not exist. */
      readonly knownOnly?: true;
    })
  | (InboundBase & { readonly kind: "delete"; readonly messageExternalId: string })
  /** Claims of the customer, unverified. */
  | (InboundBase & {
      readonly kind: "contact";
      readonly contact: { readonly name?: string; readonly email?: string; readonly phone?: string };
      /**
       * The payload of the link that led the customer here, at most 190 characters. The customer's next message has it
       * in its metadata, as `start`.
       */
      readonly start?: string;
    })
  /**
   * The platform has renamed the thread. Later messages are sent to the new name. If that has a conversation of its own,
   * references to messages of the old one lead there.
   */
  | (InboundBase & {
      readonly kind: "moved";
      readonly toThread: string;
      /** Further ids by which messages may refer to the conversation. */
      readonly messageRefs?: readonly string[];
    })
  /** The customer has become unreachable in this thread, or reachable again. `reason` is for agents. */
  | (InboundBase & { readonly kind: "reach"; readonly reachable: boolean; readonly reason: string })
  /**
   * The customer's opinion of an answer of the bot; `value` null: taken back. Ignored for any other message, and from a
   * sender who did not write in the thread. The result names the answer only if the opinion counts.
   */
  | (InboundBase & {
      readonly kind: "feedback";
      readonly of: { readonly messageId: string } | { readonly partExternalId: string };
      readonly value: "up" | "down" | null;
    })
  /**
   * The customer has reacted to a message of the thread. Ignored if the message is not known or was deleted, and from a
   * sender who did not write in the thread. It is no message: it reopens nothing, and the bot does not answer.
   *
   * A thumb on an answer of the bot is the customer's opinion, as `feedback` is, and is stored as that alone: a second copy
   * would contradict it once the customer presses the other button, and agents would see the same thumb twice.
   */
  | (InboundBase & {
      readonly kind: "reaction";
      readonly of: Pick<Reference, "externalIds" | "messageId">;
      /** Emoji, or names of the platform's own pictures such as `:party:`. Longer ones than 32 UTF-16 units are ignored. */
      readonly added: readonly string[];
      /** `all`: the customer has no others than `added`. */
      readonly removed: readonly string[] | "all";
    })
  /**
   * The customer's rating of the conversation, in reply to its survey. The first score counts; a comment can follow
   * later, with the same score. Ignored for any other message, and from a sender who did not write in the thread. The
   * result names the survey only if the rating counts.
   */
  | (InboundBase & {
      readonly kind: "rating";
      readonly of: { readonly messageId: string } | { readonly partExternalId: string };
      readonly score: Score;
      readonly comment?: string;
    })
  /**
   * The customer has done something that opens the {@link ReplyWindow} and is no message, such as a reaction. What it says
   * is an event of its own.
   */
  | (InboundBase & { readonly kind: "activity" })
  /** The platform's receipt for a sent part. */
  | {
      readonly kind: "delivery";
      readonly externalId: string;
      readonly partExternalId: string;
      /** The key under which the part was sent, if the platform repeats it. Known even before the send has returned. */
      readonly partKey?: string;
      /** `sent`: the platform has the part. It counts where the outcome of the send is unknown. */
      readonly state: "sent" | "delivered" | "read" | "failed";
      readonly error?: string;
      /** The part failed because the thread's {@link ReplyWindow} is closed. */
      readonly windowClosed?: true;
      readonly sentAt: number;
    };

/** After `max` answers to the sender within this time, agents answer the next message. */
export interface BotLimit {
  readonly max: number;
  readonly withinMs: number;
  /** Counts the bot's messages in all conversations with this address, besides; absent: in the thread. */
  readonly email?: string;
}

/** A customer's file as described by the platform. All values are the sender's claims and must not be trusted. */
export interface InboundFile {
  /** Opaque; passed to {@link ChannelAdapter.fetchFile} alone. At most 4,096 characters. Stored, never shown. */
  readonly ref: string;
  /** The same for the same bytes under any `ref`; absent if the platform does not say. Stored. */
  readonly key?: string;
  readonly name: string;
  readonly mediaType: string;
  /** Null: the platform does not say. */
  readonly bytes: number | null;
}

/** The result of an event; `duplicate` if it had been accepted before. */
export interface Accepted {
  readonly duplicate: boolean;
  readonly conversationId: string | null;
  readonly messageId: string | null;
  /** The message's number in its conversation. */
  readonly seq: number | null;
  /**
   * Nothing is stored: the session belongs to a user whose identity the sender does not prove. Only on widget and
   * hosted.
   */
  readonly refused?: true;
  /** Nothing is stored: an uploaded file of the message was removed meanwhile. Only on widget and hosted. */
  readonly filesGone?: true;
}

/** The status of a conversation on a platform that has one. */
export type PlatformStatus =
  | { readonly kind: "open" | "closed" }
  /** The end of the snooze, epoch milliseconds; null: until the customer writes. */
  | { readonly kind: "snoozed"; readonly until: number | null };

/** One platform call, as JSON that the host stores until the call is made. */
export interface Part {
  /** The customer's text, as plain text for people who look at a delivery. */
  readonly text: string;
  readonly payload: unknown;
}

export type EventKind = InboundEvent["kind"];
export type EventOf<K extends EventKind> = Extract<InboundEvent, { kind: K }>;
export type TextChange = EventOf<"edit" | "delete">;

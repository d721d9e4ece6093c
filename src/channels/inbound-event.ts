import type { VerifiedUser } from "#domain/customer/user-token.ts";

/** A customer as the platform names them. */
export interface Sender {
  /** The platform's own id: opaque, case-sensitive, at most 190 characters. */
  readonly key: string;
  readonly name?: string;
  /** Present when the company's own signature proves who this is; only values that it covers. */
  readonly verified?: VerifiedUser;
  /**
   * Addresses that the platform itself vouches for: the number of a WhatsApp sender, an address whose mail passed its
   * domain's checks. They join what is known of one customer on several channels, so never what somebody typed.
   */
  readonly proven?: { readonly email?: string; readonly phone?: string };
  /** What they say of themselves: shown, and joins nothing. */
  readonly claimed?: { readonly name?: string; readonly email?: string; readonly phone?: string };
}

interface InboundBase {
  /** The platform's id of this event, unique within the account: the key of deduplication. At most 190 characters. */
  readonly externalId: string;
  /** The platform's own thread, at most 190 characters: one conversation for each. */
  readonly thread: string;
  readonly sender: Sender;
  /** When the platform says it happened, epoch milliseconds. */
  readonly sentAt: number;
}

export type InboundEvent =
  | (InboundBase & {
      readonly kind: "message";
      /** Plain text as the customer wrote it. */
      readonly text: string;
      /** The platform's id of the message when that is another than the event's. */
      readonly messageExternalId?: string;
      readonly metadata?: Readonly<Record<string, unknown>>;
      /** What came with it, at most 20; the host fetches them once the message is stored. The text may then be empty. */
      readonly files?: readonly InboundFile[];
      /**
       * Events with the same key in a thread are one message, such as the pictures of an album: the files are joined, and
       * the bot waits a little for the rest. At most 190 characters. Words that come later than that are a message of their
       * own. `joinsOnly`: taken only where another of the group is a message, be it a later one.
       */
      readonly group?: { readonly key: string; readonly joinsOnly?: boolean };
      /** What later messages may refer to it by, such as a Message-ID; for {@link ChannelHost.threadOf}. At most 190 characters each. */
      readonly marks?: readonly string[];
      /**
       * What leads to the thread can be passed on, as a reply address can: whoever is not its customer writes as a guest.
       * A guest's message is people's to answer, and the conversation stays whose it is.
       */
      readonly checkSender?: true;
      /** They have chosen to talk to a person, by a button and not by words. */
      readonly wantsPerson?: true;
      /** Why the bot must not answer this by itself: the message goes to people. For agents. */
      readonly peopleOnly?: string;
    })
  /** An agent has written to the customer with the platform's own means. */
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
      readonly marks?: readonly string[];
      /** What they have sent along, as with a customer's message. Files of `parts` are uploads, and are here too. */
      readonly files?: readonly InboundFile[];
      /** What still has to be sent to the customer; absent: they have got it. */
      readonly parts?: readonly Part[];
    }
  /** Something that the agents of a thread should know, as a note. Nothing happens where there is no such thread. */
  | {
      readonly kind: "notice";
      readonly externalId: string;
      readonly thread: string;
      readonly sentAt: number;
      readonly text: string;
      /** Who has written it there; absent: nobody. */
      readonly author?: { readonly email: string };
    }
  /**
   * The platform's people have changed how the conversation stands, or who has it. Nothing happens where there is no such
   * thread; and what comes from the platform is not sent back to it.
   */
  | {
      readonly kind: "state";
      readonly externalId: string;
      readonly thread: string;
      readonly sentAt: number;
      /** `taken`: by `by`. `released`: the bot may answer again. `ours`: our own change came back; only its order counts. */
      readonly change: PlatformStatus | { readonly kind: "taken" | "released" } | { readonly kind: "ours" };
      /** Null: nobody in person. */
      readonly by: { readonly email: string; readonly name: string | null } | null;
      /** A later change of the thread has a larger one, as texts are compared: what comes late changes nothing. At most 100 characters. */
      readonly order: string;
    }
  | (InboundBase & {
      readonly kind: "edit";
      readonly messageExternalId: string;
      readonly text: string;
      /** All that is in the message now: what was not before is added to it, as far as {@link InboundFile.key} tells that. */
      readonly files?: readonly InboundFile[];
      /** It waits for no message that is not there, and its text is not kept then. */
      readonly knownOnly?: true;
    })
  | (InboundBase & { readonly kind: "delete"; readonly messageExternalId: string })
  /** What the customer says of themselves: unverified. */
  | (InboundBase & {
      readonly kind: "contact";
      readonly contact: { readonly name?: string; readonly email?: string; readonly phone?: string };
    })
  /** The platform has given the thread another name; what is sent from now on goes there. */
  | (InboundBase & { readonly kind: "moved"; readonly toThread: string })
  /** The customer can be reached no more in this thread, or again. `reason` is for agents. */
  | (InboundBase & { readonly kind: "reach"; readonly reachable: boolean; readonly reason: string })
  /** The platform reports on a part that we sent. */
  | {
      readonly kind: "delivery";
      readonly externalId: string;
      readonly partExternalId: string;
      /** The key that it was sent under, where the platform repeats it: known even before the send has returned. */
      readonly partKey?: string;
      readonly state: "delivered" | "read" | "failed";
      readonly error?: string;
      /** It has failed because the thread's {@link ReplyWindow} is closed. */
      readonly windowClosed?: true;
      readonly sentAt: number;
    };

/** A file that a customer sent, as the platform speaks of it: all of it is the sender's word, and nothing of it trusted. */
export interface InboundFile {
  /** Opaque, for {@link ChannelAdapter.fetchFile} alone; at most 4,096 characters. Stored, never shown. */
  readonly ref: string;
  /** The same for the same bytes, by whatever `ref` they are had; absent where the platform does not say. Stored. */
  readonly key?: string;
  readonly name: string;
  readonly mediaType: string;
  /** null: the platform does not say. */
  readonly bytes: number | null;
}

/** What became of an event; `duplicate` when it had been accepted before. */
export interface Accepted {
  readonly duplicate: boolean;
  readonly conversationId: string | null;
  readonly messageId: string | null;
  /** The message's number in its conversation. */
  readonly seq: number | null;
  /** Nothing is stored: the session belongs to a user whom the sender does not prove to be. Only on widget and hosted. */
  readonly refused?: true;
  /** Nothing is stored: an uploaded file that the message names was removed meanwhile. Only on widget and hosted. */
  readonly filesGone?: true;
}

/** How a conversation stands on a platform that knows such states. */
export type PlatformStatus =
  | { readonly kind: "open" | "closed" }
  /** Until then, epoch milliseconds; null: until the customer writes. */
  | { readonly kind: "snoozed"; readonly until: number | null };

/** One platform call, as JSON that the host stores until it is made. */
export interface Part {
  /** What the customer reads of it, as plain text: for people who look at a delivery. */
  readonly text: string;
  readonly payload: unknown;
}

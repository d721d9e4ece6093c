import type { Confidence, MessageKind, Role, Score, Source } from "#domain/conversation/message.ts";

/** A message as the customer of the thread may see it. Never a note. */
export interface ThreadMessage {
  readonly id: string;
  readonly seq: number;
  readonly role: Role;
  readonly markdown: string;
  readonly authorName: string | null;
  /** Id of the agent's picture; null: none. */
  readonly authorAvatar: string | null;
  readonly sources: readonly Source[];
  readonly confidence: Confidence | null;
  readonly kind: MessageKind | null;
  /** The customer's opinion of an answer; null: none. */
  readonly feedback: "up" | "down" | null;
  /** The customer's rating in reply to a survey; null: none. */
  readonly rating: { readonly score: Score; readonly commented: boolean } | null;
  readonly externalId: string | null;
  readonly createdAt: number;
  readonly files: readonly ThreadFile[];
  /** The company's reaction to a customer's message, and the customer's to any other; null: none. */
  readonly reaction: ThreadReaction | null;
  /** The earlier message that it answers; null: none, or it was deleted. */
  readonly refersTo: ThreadReference | null;
  /** Deleted: `markdown` and `files` are empty. */
  readonly deleted: boolean;
}

export interface ThreadReaction {
  readonly emoji: string;
  /** Null: not known. */
  readonly author: string | null;
}

export interface ThreadReference {
  /** Null: the message is not known here. */
  readonly id: string | null;
  readonly role: Role | null;
  readonly author: string | null;
  /** The beginning of its text, without formatting. */
  readonly text: string;
}

/** A file of a message as its customer may see it. */
export interface ThreadFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number | null;
  /** A link that is valid for a day; null where the file is not stored. */
  readonly url: string | null;
  /** Whether a browser may show it as an image. */
  readonly preview: boolean;
}

export interface RecentThread {
  readonly thread: string;
  /** The platform's id of the customer's newest known message in the thread. */
  readonly newestExternalId: string | null;
}

export interface ThreadState {
  readonly conversationId: string;
  readonly lastSeq: number;
  /** The signed-in user to whom the thread belongs; null until a user has proved their identity in it. */
  readonly userId: string | null;
  /** The answering side; `resolved`: none, until the customer writes again. */
  readonly handledBy: "assistant" | "waiting" | "agent" | "resolved";
  readonly agentName: string | null;
  /** Known details of the customer, which need not be requested again. */
  readonly hasName: boolean;
  readonly hasEmail: boolean;
}

export type ThreadSignal =
  /** There is newer content, or the answering side has changed; `amended`: shown content may have changed too. */
  { readonly kind: "changed"; readonly amended?: true } | { readonly kind: "typing"; readonly who: TypingParty };

export interface TypingParty {
  readonly role: "assistant" | "agent";
  readonly name: string | null;
}

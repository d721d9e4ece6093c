import type { Confidence, Role, Source } from "#domain/conversation/message.ts";

/** A message as the customer of the thread may see it. Never a note. */
export interface ThreadMessage {
  readonly id: string;
  readonly seq: number;
  readonly role: Role;
  readonly markdown: string;
  readonly authorName: string | null;
  readonly sources: readonly Source[];
  readonly confidence: Confidence | null;
  readonly externalId: string | null;
  readonly createdAt: number;
  readonly files: readonly ThreadFile[];
  /** Deleted: `markdown` and `files` are empty. */
  readonly deleted: boolean;
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
  /** The platform's id of the newest message that the customer is known to have written there. */
  readonly newestExternalId: string | null;
}

export interface ThreadState {
  readonly conversationId: string;
  readonly lastSeq: number;
  /** The signed-in user whom the thread belongs to; null while nobody has proved who they are in it. */
  readonly userId: string | null;
  /** Who answers now; `resolved`: nobody, until the customer writes again. */
  readonly handledBy: "assistant" | "waiting" | "agent" | "resolved";
  readonly agentName: string | null;
  /** What is known of the customer already, so that they are not asked again. */
  readonly hasName: boolean;
  readonly hasEmail: boolean;
}

export type ThreadSignal =
  /** There is something after what you showed, or who answers has changed; `amended`: or something in what you showed. */
  { readonly kind: "changed"; readonly amended?: true } | { readonly kind: "typing"; readonly who: TypingParty };

export interface TypingParty {
  readonly role: "assistant" | "agent";
  readonly name: string | null;
}

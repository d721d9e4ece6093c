import type { Sender, VerifiedUser } from "#channels/contract.ts";
import type { Confidence, Source } from "#domain/conversation/message.ts";
import type { Strictness } from "#domain/workspace/settings.ts";

export interface Query {
  readonly workspaceId: string;
  /** Absent to start a conversation. */
  readonly conversationId?: string;
  readonly text: string;
  /** Present if a hash or a token proved the user's identity. */
  readonly user?: VerifiedUser;
  /** Unproven details of the user: in the request, but not covered by the token. */
  readonly claimed?: Sender["claimed"];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly strictness?: Strictness;
  readonly topK?: number;
  /** The language model's temperature, 0 to 1. */
  readonly temperature?: number;
  readonly documentIds?: readonly string[];
  /** Restricts the user's audience tags to these. */
  readonly audience?: readonly string[];
  /** Idempotency key. A repeated id returns the first answer. */
  readonly clientId?: string;
  readonly onToken?: (delta: string) => void;
}

export interface QueryResult {
  readonly answer: string;
  readonly sources: readonly Source[];
  readonly conversationId: string;
  readonly messageId: string | null;
  readonly skillsFired: readonly string[];
  readonly tokensUsed: number;
  readonly confidence: Confidence | null;
}

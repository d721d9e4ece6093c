import type { Status } from "#domain/conversation/status.ts";

/** What a rule has to say to a customer, and what must still hold then. */
export interface RuleReply {
  readonly conversationId: string;
  readonly rule: string;
  readonly text: string;
  readonly status: Status;
  /** The newest message when the rule fired. */
  readonly seq: number;
  /** The customer's message that it answers; null: none. */
  readonly answersSeq: number | null;
}

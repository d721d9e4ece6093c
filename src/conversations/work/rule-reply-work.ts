import { Type } from "typebox";
import { statuses } from "#domain/conversation/status.ts";
import type { PayloadOf } from "#database/work.ts";
import { workKind } from "#database/work.ts";

/** A rule's reply to the customer, and what must still hold when it is sent. */
export const ruleReplyKind = workKind(
  "speak",
  Type.Object({
    conversationId: Type.String(),
    rule: Type.String(),
    text: Type.String(),
    status: Type.Enum([...statuses]),
    /** The newest message when the rule fired. */
    seq: Type.Number(),
    /** The customer's message that it answers. Null: none. */
    answersSeq: Type.Union([Type.Number(), Type.Null()]),
  }),
);

export type RuleReply = PayloadOf<typeof ruleReplyKind>;

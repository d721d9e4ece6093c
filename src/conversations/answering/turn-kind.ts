import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { PayloadOf, Work } from "#database/work.ts";
import type { QuestionOptions } from "#conversations/work/question-options.ts";

/** An answer to the customer's message with this `seq`. */
export const turnKind = workKind(
  "think",
  Type.Object({
    conversationId: Type.String(),
    seq: Type.Number(),
    options: Type.Optional(Type.Unsafe<QuestionOptions>(Type.Object({}))),
  }),
);

export type TurnPayload = PayloadOf<typeof turnKind>;
export type TurnWork = Work<TurnPayload>;

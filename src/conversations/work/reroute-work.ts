import { Type } from "typebox";
import type { NewWork } from "#database/queries/outbox.ts";
import type { PayloadOf } from "#database/work.ts";
import { workKind } from "#database/work.ts";

/** A reply that the conversation's own channel no longer accepts. */
export const rerouteKind = workKind(
  "redirect",
  Type.Object({
    conversationId: Type.String(),
    messageId: Type.String(),
    /** Why it was not sent, for agents. */
    reason: Type.String(),
  }),
);

export type Reroute = PayloadOf<typeof rerouteKind>;

export const rerouteLane = (conversationId: string): string => `redirect:${conversationId}`;

export function rerouteWork(reroute: Reroute, dueAt: number): NewWork {
  return rerouteKind.queued(rerouteLane(reroute.conversationId), reroute, dueAt);
}

import type { NewWork } from "#database/queries/outbox.ts";

/** Lane of replies that the conversation's own channel no longer accepts. */
export const rerouteLane = (conversationId: string): string => `redirect:${conversationId}`;

export interface Reroute {
  readonly conversationId: string;
  readonly messageId: string;
  /** Why it was not sent, for agents. */
  readonly reason: string;
}

export function rerouteWork(reroute: Reroute, dueAt: number): NewWork {
  return { lane: rerouteLane(reroute.conversationId), kind: "redirect", payload: reroute, dueAt };
}

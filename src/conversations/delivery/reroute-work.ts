import type { NewWork } from "#database/queries/outbox.ts";

/** Of messages that the conversation's own channel does not take any more. */
export const rerouteLane = (conversationId: string): string => `redirect:${conversationId}`;

export interface Reroute {
  readonly conversationId: string;
  readonly messageId: string;
  /** Why it did not go, for agents. */
  readonly reason: string;
}

export function rerouteWork(reroute: Reroute, dueAt: number): NewWork {
  return { lane: rerouteLane(reroute.conversationId), kind: "redirect", payload: reroute, dueAt };
}

import type { NewWork } from "#database/queries/outbox.ts";

/** Of messages that the conversation's own channel does not take any more. */
export const redirectLane = (conversationId: string): string => `redirect:${conversationId}`;

export interface Redirect {
  readonly conversationId: string;
  readonly messageId: string;
  /** Why it did not go, for agents. */
  readonly reason: string;
}

export function redirectWork(redirect: Redirect, dueAt: number): NewWork {
  return { lane: redirectLane(redirect.conversationId), kind: "redirect", payload: redirect, dueAt };
}

import type { NewWork } from "#database/queries/outbox.ts";

/** Tells the processes that hold an agent's live connections that the agent is gone, or signed out. */
export const signOutWork = (agentId: string, now: number): NewWork => ({
  lane: `signout:${agentId}`,
  kind: "signout",
  payload: { agentId },
  dueAt: now,
});

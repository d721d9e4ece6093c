/** Signals of one thread, for the customer's side. */
export const threadTopic = (accountId: string, contextKey: string): string => `thread:${accountId}:${contextKey}`;

/** Signals that an agent may be signed out, for the holders of their live connections. */
export const agentTopic = (agentId: string): string => `agent:${agentId}`;

/** Signals of all conversations of a workspace, for its agents. */
export const workspaceTopic = (workspaceId: string): string => `workspace:${workspaceId}`;

/** Signals that a channel account was added, changed, paused, resumed or removed. */
export const accountsTopic = "accounts";

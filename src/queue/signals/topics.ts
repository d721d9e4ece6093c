/** What is told of one thread: to the customer's side of it. */
export const threadTopic = (accountId: string, contextKey: string): string => `thread:${accountId}:${contextKey}`;

/** That an agent may be signed out: to whoever holds a live connection of theirs. */
export const agentTopic = (agentId: string): string => `agent:${agentId}`;

/** What is told of every conversation of a workspace: to its agents. */
export const workspaceTopic = (workspaceId: string): string => `workspace:${workspaceId}`;

/** What is told of one thread: to the customer's side of it. */
export const threadTopic = (accountId: string, contextKey: string): string => `thread:${accountId}:${contextKey}`;

/** What is told of every conversation of a workspace: to its agents. */
export const workspaceTopic = (workspaceId: string): string => `workspace:${workspaceId}`;

import type { AuditTable } from "#database/schema/tables.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";

/** Signals a committed change of a conversation to the agents of its workspace. */
export interface ConversationSignal {
  readonly workspaceId: string;
  readonly conversationId: string;
  /** The agent who got the conversation from a colleague or, with null, from a rule or the API. */
  readonly assigned?: { readonly to: string; readonly by: string | null };
}

/**
 * `audits`: the transaction's entries of this conversation. Agents are not notified when they assign a conversation to
 * themselves.
 */
export function signalOf(
  { id, workspace_id: workspaceId, assigned_to: to }: ConversationRow,
  audits: readonly AuditTable[],
): ConversationSignal {
  const signal = { workspaceId, conversationId: id };
  const given = audits.findLast(
    (entry) => entry.conversation_id === id && entry.action === "assigned" && entry.to_value === to,
  );
  if (to === null || given === undefined || given.actor_id === to) return signal;
  return { ...signal, assigned: { to, by: given.actor_type === "agent" ? given.actor_name : null } };
}

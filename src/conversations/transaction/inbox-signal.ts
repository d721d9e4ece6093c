import type { AuditTable } from "#database/schema/tables.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";

/** What the agents of a workspace are told of a conversation once its change is durable. */
export interface ConversationSignal {
  readonly workspaceId: string;
  readonly conversationId: string;
  /** It was given to this agent: by a colleague, or (null) by a rule or over the API. */
  readonly assigned?: { readonly to: string; readonly by: string | null };
}

/** `audits`: what was done to it now. Of what agents take for themselves they need not be told. */
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

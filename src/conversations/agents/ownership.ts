import type { Expected } from "#channels/desk/contract.ts";
import type { Status } from "#domain/conversation/status.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { ownerOf } from "#conversations/transaction/owner.ts";

// The only place that decides whether an agent may act on a conversation: a colleague may have it, and the agent's view of
// it may be old. The inbox refuses a reply then, the desk holds it, and the API refuses an old view only. A reply written
// by e-mail or on the platform has already reached people, and is never refused.

/** An action that was refused because another person changed the conversation first. */
export interface Conflict {
  readonly kind: "conflict";
  /** The agent who has the conversation now. */
  readonly owner: { readonly email: string; readonly name: string } | null;
  /** Name of the last actor. */
  readonly by: string;
  readonly status: Status;
}

/** The state that the agent has seen, and whether they insist. Absent fields are not checked. */
export interface AgentView {
  /** The agent acts although a colleague has the conversation. */
  readonly overrideOwner?: boolean;
  readonly expected?: Expected | undefined;
  /** The newest message that the agent has seen. */
  readonly basedOnSeq?: number | undefined;
}

export type Decision =
  | { readonly kind: "ok" }
  /** A colleague owns the conversation, also while it is snoozed. */
  | { readonly kind: "colleague"; readonly email: string }
  /** Another person has changed the status or the owner since. */
  | { readonly kind: "changed" }
  /** The customer or a colleague has written since. */
  | { readonly kind: "stale" };

/** Decides whether the agent may act on the conversation, which must be locked. */
export async function decide(tx: Tx, row: ConversationRow, email: string, view: AgentView = {}): Promise<Decision> {
  const owner = ownerOf(row);
  if (owner !== null && owner !== email && view.overrideOwner !== true) return { kind: "colleague", email: owner };
  if (await isStaleView(tx, row, view.expected, email)) return { kind: "changed" };
  if (view.basedOnSeq !== undefined && (await hasNewMessages(tx, row.id, view.basedOnSeq, email))) {
    return { kind: "stale" };
  }
  return { kind: "ok" };
}

/** Whether another person has changed the conversation since the agent saw it as `expected`. */
async function isStaleView(
  tx: Tx,
  row: ConversationRow,
  expected: Expected | undefined,
  email: string,
): Promise<boolean> {
  if (expected === undefined) return false;
  if (row.status === expected.status && row.assigned_to === expected.assignedTo) return false;
  // An agent's own last change is no conflict: their second click follows their first.
  return !(await isLastChangeBy(tx, row, email));
}

export async function isLastChangeBy(tx: Tx, row: ConversationRow, email: string): Promise<boolean> {
  const last = await lastChange(tx, row);
  return last?.actor_type === "agent" && last.actor_id === email;
}

const lastChange = (tx: Tx, { id }: ConversationRow) =>
  tx
    .selectFrom("audit")
    .select(["actor_type", "actor_id", "actor_name"])
    .where("conversation_id", "=", id)
    .where("action", "in", ["status_changed", "assigned"])
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();

/** Selects messages after `seq` by the customer and by colleagues. An agent's own messages do not make a view stale. */
export const messagesByOthers = (db: Reader | Tx, conversationId: string, seq: number, email: string) =>
  db
    .selectFrom("messages")
    .where("conversation_id", "=", conversationId)
    .where("seq", ">", seq)
    .where("role", "in", ["user", "agent"])
    .where((eb) => eb.or([eb("role", "=", "user"), eb("author_id", "!=", email)]));

async function hasNewMessages(tx: Tx, conversationId: string, seq: number, email: string): Promise<boolean> {
  const newer = await messagesByOthers(tx, conversationId, seq, email).select("id").limit(1).executeTakeFirst();
  return newer !== undefined;
}

export async function describeConflict(tx: Tx, row: ConversationRow): Promise<Conflict> {
  const last = await lastChange(tx, row);
  const email = ownerOf(row);
  const owner = email === null ? null : { email, name: await nameInConversation(tx, row, email) };
  const by = last?.actor_type === "customer" ? "the customer" : (last?.actor_name ?? "somebody");
  return { kind: "conflict", owner, by, status: row.status };
}

/** Text for the agent whose action was refused. */
export function conflictText({ owner, by, status }: Conflict, email: string): string {
  if (owner !== null && owner.email !== email) return `${owner.name} already claimed this conversation.`;
  const actor = by.slice(0, 1).toUpperCase() + by.slice(1);
  return status === "resolved" || status === "archived" || status === "snoozed"
    ? `${actor} already ${status} this conversation.`
    : `${actor} already changed this conversation. It is ${status} now.`;
}

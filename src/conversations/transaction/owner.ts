import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Draft } from "./draft.ts";

type Ownership = Pick<ConversationRow, "status" | "snoozed_from" | "assigned_to">;

/** Returns the address of the agent who has the conversation, also while it is snoozed. */
export function ownerOf(row: Ownership): string | null {
  const isOwned = row.status === "claimed" || (row.status === "snoozed" && row.snoozed_from === "claimed");
  return isOwned ? row.assigned_to : null;
}

/** Claims the conversation. Throws if another agent has it. A second claim by its owner changes nothing. */
export function claim(draft: Draft, email: string, actor: Actor, takeOver = false): void {
  const { row } = draft;
  if (row.status === "claimed" && row.assigned_to === email) return;
  if (row.status === "claimed" || (ownerOf(row) !== null && ownerOf(row) !== email && !takeOver)) {
    throw new Problem("invalid_transition", `the conversation is claimed already, by ${row.assigned_to ?? "somebody"}`);
  }
  const wasSnoozed = row.status === "snoozed";
  draft.setStatus("claimed", actor);
  if (wasSnoozed && row.assigned_to === email) notifyOwner(draft, email, actor, takeOver);
  else assign(draft, email, actor);
}

/**
 * Notifies the owner of a snoozed conversation when another person assigns it to them again. Un-snoozing a colleague's
 * conversation does not notify.
 */
function notifyOwner(draft: Draft, email: string, actor: Actor, isGiven: boolean): void {
  if (actor.id === email || (actor.type === "agent" && !isGiven)) return;
  draft.audit("assigned", actor, { from: email, to: email });
  draft.emit("conversation.assigned", actor);
}

export function assign(draft: Draft, email: string, actor: Actor): void {
  const { row } = draft;
  if (row.assigned_to === email) return;
  const entry = draft.audit("assigned", actor, { from: row.assigned_to, to: email });
  // The first assignment is a claim, which the desk shows already.
  if (row.assigned_to !== null) draft.syncDesk({ kind: "event", id: entry });
  row.assigned_to = email;
  draft.emit("conversation.assigned", actor);
  draft.touch();
}

/**
 * Hands the conversation to agents, without a message to the customer. Every escalation of a conversation that the bot has
 * goes through here. The bot does not answer the messages so far, also if it gets the conversation back. `isTagged`: it has
 * the tag already.
 */
export function escalate(draft: Draft, actor: Actor, reason: string | undefined, isTagged = false): void {
  const { row } = draft;
  draft.setStatus("escalated", actor, reason === undefined ? {} : { reason });
  if (!isTagged) draft.setTags(["escalated"], [], actor);
  row.low_streak = 0;
  row.settled_seq = row.last_customer_seq;
}

import type { Seen } from "#channels/desk/contract.ts";
import type { Status } from "#domain/conversation/status.ts";
import { wakeTarget } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Priority } from "#domain/conversation/sla.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import type { ConversationChange, Snooze } from "./requests.ts";
import type { Channels } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import { requireConversation, updateConversation } from "./update.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

/** An agent's action on a conversation, apart from messages. The inbox, the API and the Slack desk use the same ones. */
export type Action =
  | { readonly kind: "claim" | "take_over" | "release" | "resolve" | "archive" | "reopen" }
  | { readonly kind: "snooze"; readonly snooze: Snooze }
  /** Takes back the agent's own resolve. `snooze`: the end of its snooze, if it was snoozed before. */
  | { readonly kind: "undo_resolve"; readonly snooze: Snooze }
  /** Assigns it to an agent of the workspace. */
  | { readonly kind: "assign"; readonly to: string }
  | {
      readonly kind: "describe";
      readonly tags?: readonly string[];
      readonly addTags?: readonly string[];
      readonly removeTags?: readonly string[];
      readonly priority?: Priority;
    };

export interface ActingAgent {
  readonly email: string;
  readonly name: string;
}

export const agentActor = ({ email, name }: ActingAgent): Actor => ({ type: "agent", id: email, name });

export type ActionResult =
  | { readonly kind: "done" }
  /** A conflict: somebody changed it first. `holder`: the agent who has the conversation now. */
  | {
      readonly kind: "lost";
      readonly holder: ActingAgent | null;
      readonly by: string;
      readonly status: Status;
    };

export interface ActionDependencies {
  readonly channels: Channels;
  readonly search: ConversationSearch;
}

/**
 * Applies an agent's action, or returns a conflict if the conversation has changed since they saw it (`expected`). An
 * action that is in effect already succeeds and changes nothing.
 */
export async function applyAction(
  tx: Tx,
  { channels, search }: ActionDependencies,
  workspace: Workspace,
  conversationId: string,
  asked: Action,
  agent: ActingAgent,
  expected: Seen | undefined,
  now: number,
): Promise<{ readonly acted: ActionResult; readonly effects: Effects | null }> {
  const row = await requireConversation(tx, workspace.id, conversationId);
  const action = asked.kind === "assign" ? { ...asked, to: await requireAgent(tx, workspace.id, asked.to) } : asked;
  if (isNoOp(row, action, agent)) return { acted: { kind: "done" }, effects: null };
  const moved = expected !== undefined && (row.status !== expected.status || row.assigned_to !== expected.assignedTo);
  // Tags and priority cannot conflict.
  if (action.kind !== "describe") {
    const taken =
      action.kind === "undo_resolve"
        ? row.status !== "resolved" || !(await isOwnChange(tx, row, agent))
        : isTaken(row, action, agent) || (moved && !(await isOwnChange(tx, row, agent)));
    if (taken) return { acted: await conflict(tx, row), effects: null };
  }
  const effects = await updateConversation(
    tx,
    channels,
    search,
    workspace,
    row.id,
    action.kind === "undo_resolve" ? await restored(tx, row, action.snooze) : changeOf(row, action, agent),
    agentActor(agent),
    now,
  );
  return { acted: { kind: "done" }, effects };
}

/** Returns the stored spelling of the address: MySQL compares addresses without regard to case. */
async function requireAgent(tx: Tx, workspaceId: string, email: string): Promise<string> {
  const agent = await tx
    .selectFrom("agents")
    .select("email")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", email)
    .executeTakeFirst();
  if (agent === undefined) throw new Problem("invalid_parameter", `${email} is no agent of this workspace.`);
  return agent.email;
}

function isNoOp(row: ConversationRow, action: Action, { email }: ActingAgent): boolean {
  switch (action.kind) {
    case "claim":
    case "take_over":
      return row.status === "claimed" && row.assigned_to === email;
    case "assign":
      return row.status === "claimed" && row.assigned_to === action.to;
    case "release":
      return row.status === "open";
    case "resolve":
      return row.status === "resolved";
    case "archive":
      return row.status === "archived";
    case "reopen":
      return row.status === "open" || row.status === "escalated" || row.status === "claimed";
    case "snooze":
    case "undo_resolve":
    case "describe":
      return false;
  }
}

/** Returns the address of the agent who has the conversation, also while it is snoozed. */
export function holderOf(row: Pick<ConversationRow, "status" | "snoozed_from" | "assigned_to">): string | null {
  const held = row.status === "claimed" || (row.status === "snoozed" && row.snoozed_from === "claimed");
  return held ? row.assigned_to : null;
}

/** A claim fails if a colleague has the conversation. `take_over` does not. */
function isTaken(row: ConversationRow, action: Action, { email }: ActingAgent): boolean {
  const holder = holderOf(row);
  return action.kind === "claim" && holder !== null && holder !== email;
}

/** Reads the state before the resolve from the audit log. */
async function restored(tx: Tx, row: ConversationRow, snooze: Snooze): Promise<ConversationChange> {
  const [resolved, snoozed] = await tx
    .selectFrom("audit")
    .select("from_value")
    .where("conversation_id", "=", row.id)
    .where("action", "=", "status_changed")
    .orderBy("id", "desc")
    .limit(2)
    .execute();
  const wasSnoozed = resolved?.from_value === "snoozed";
  const was = wasSnoozed ? snoozed?.from_value : resolved?.from_value;
  const status = was === "escalated" || was === "claimed" ? was : "open";
  return { restore: { status, ...(wasSnoozed ? { snooze } : {}) } };
}

function changeOf(
  row: ConversationRow,
  action: Exclude<Action, { kind: "undo_resolve" }>,
  { email }: ActingAgent,
): ConversationChange {
  switch (action.kind) {
    case "claim":
      return { status: "claimed", assignedTo: email };
    case "take_over":
      return handedTo(row, email);
    case "assign":
      return handedTo(row, action.to);
    case "release":
      return { status: "open" };
    case "resolve":
      return { status: "resolved" };
    case "archive":
      return { status: "archived" };
    case "reopen": {
      const status = row.status === "snoozed" ? wakeTarget(row.snoozed_from) : "open";
      // Returns to the agent who had it before the snooze.
      return { status, ...(status === "claimed" && row.assigned_to !== null ? { assignedTo: row.assigned_to } : {}) };
    }
    case "snooze":
      return { status: "snoozed", snooze: action.snooze };
    case "describe": {
      const { kind: _, ...change } = action;
      return change;
    }
  }
}

/** Reassigns regardless of the current owner, and un-snoozes. */
const handedTo = ({ status }: ConversationRow, assignedTo: string): ConversationChange =>
  status === "claimed" ? { assignedTo } : { status: "claimed", assignedTo, takeOver: true };

const lastChange = (tx: Tx, { id }: ConversationRow) =>
  tx
    .selectFrom("audit")
    .select(["actor_type", "actor_id", "actor_name"])
    .where("conversation_id", "=", id)
    .where("action", "in", ["status_changed", "assigned"])
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();

/** An agent's own last change is no conflict: their second click follows their first. */
async function isOwnChange(tx: Tx, row: ConversationRow, { email }: ActingAgent): Promise<boolean> {
  const last = await lastChange(tx, row);
  return last?.actor_type === "agent" && last.actor_id === email;
}

export async function conflict(tx: Tx, row: ConversationRow): Promise<ActionResult> {
  const last = await lastChange(tx, row);
  const holds = holderOf(row);
  const holder = holds === null ? null : { email: holds, name: await nameInConversation(tx, row, holds) };
  const by = last?.actor_type === "customer" ? "the customer" : (last?.actor_name ?? "somebody");
  return { kind: "lost", holder, by, status: row.status };
}

/** Text for the agent whose action was refused. */
export function conflictText(
  { holder, by, status }: Extract<ActionResult, { kind: "lost" }>,
  agent: ActingAgent,
): string {
  if (holder !== null && holder.email !== agent.email) return `${holder.name} already claimed this conversation.`;
  const who = by.slice(0, 1).toUpperCase() + by.slice(1);
  const done = status === "resolved" || status === "archived" || status === "snoozed" ? status : undefined;
  return done === undefined
    ? `${who} already changed this conversation. It is ${status} now.`
    : `${who} already ${done} this conversation.`;
}

import type { Expected } from "#channels/desk/contract.ts";
import { wakeTarget } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Priority } from "#domain/conversation/sla.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { ConversationChange, Snooze } from "./requests.ts";
import type { Channels } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import type { Conflict } from "./ownership.ts";
import { decide, describeConflict, isLastChangeBy } from "./ownership.ts";
import { updateConversation } from "./update.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
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

export type ActionResult = { readonly kind: "done" } | Conflict;

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
  requested: Action,
  agent: ActingAgent,
  expected: Expected | undefined,
  now: number,
): Promise<{ readonly result: ActionResult; readonly effects: Effects | null }> {
  const row = await requireConversation(tx, workspace.id, conversationId);
  const action =
    requested.kind === "assign" ? { ...requested, to: await requireAgent(tx, workspace.id, requested.to) } : requested;
  if (isNoOp(row, action, agent)) return { result: { kind: "done" }, effects: null };
  if (await isConflict(tx, row, action, agent, expected)) {
    return { result: await describeConflict(tx, row), effects: null };
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
  return { result: { kind: "done" }, effects };
}

async function isConflict(
  tx: Tx,
  row: ConversationRow,
  { kind }: Action,
  { email }: ActingAgent,
  expected: Expected | undefined,
): Promise<boolean> {
  // Tags and priority cannot conflict.
  if (kind === "describe") return false;
  if (kind === "undo_resolve") return row.status !== "resolved" || !(await isLastChangeBy(tx, row, email));
  const decision = await decide(tx, row, email, { overrideOwner: kind !== "claim", expected });
  return decision.kind !== "ok";
}

/** Returns the stored spelling of the address: MySQL compares addresses without regard to case. */
async function requireAgent(tx: Tx, workspaceId: string, email: string): Promise<string> {
  const agent = await tx
    .selectFrom("agents")
    .select("email")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", email)
    .where("role", "!=", "viewer")
    .where("invited_until", "is", null)
    .executeTakeFirst();
  if (agent === undefined) {
    throw new Problem("invalid_parameter", `${email} is no agent of this workspace who may answer.`);
  }
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

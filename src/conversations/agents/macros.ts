import { hash } from "node:crypto";
import type { Expected } from "#channels/desk/contract.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import { fillIn } from "#domain/conversation/reply-placeholders.ts";
import { Problem } from "#domain/problem.ts";
import type { Macro, MacroAction } from "#domain/workspace/macro.ts";
import { describeMacroAction } from "#domain/workspace/macro.ts";
import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { ActingAgent, Action } from "./actions.ts";
import { agentActor, applyAction } from "./actions.ts";
import { conflictText, decide, describeConflict } from "./ownership.ts";
import type { AgentMessage, AgentMessageResult } from "./inbox-messages.ts";
import { handleAgentMessage } from "./inbox-messages.ts";
import { isRepeated, recordRequest } from "./repeated-requests.ts";
import { updateConversation } from "./update.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";

/** A macro that an agent has chosen. */
export interface MacroRequest {
  readonly name: string;
  /** {@link versionOfMacro} of the macro that the agent has seen. */
  readonly version: string;
  /** Idempotency key. */
  readonly clientId: string;
  /** The state and the newest message that the agent has seen. */
  readonly expected: Expected;
  readonly basedOnSeq: number;
}

export interface MacroDependencies {
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "link" | "messageBytesMax">;
}

interface Applied {
  readonly result: AgentMessageResult;
  readonly effects: Effects | null;
}

/** Another text when the actions change. */
export const versionOfMacro = ({ actions }: Macro): string => hash("sha256", JSON.stringify(actions)).slice(0, 16);

const unchanged = (result: AgentMessageResult): Applied => ({ result, effects: null });

/**
 * Does all actions of a macro as if the agent did each by itself, or none: a refused one throws a Problem, which ends the
 * transaction.
 */
export async function applyMacro(
  tx: Tx,
  dependencies: MacroDependencies,
  workspace: Workspace,
  conversationId: string,
  request: MacroRequest,
  agent: ActingAgent,
  followUp: FollowUp | undefined,
  now: number,
): Promise<Applied> {
  const row = await requireConversation(tx, workspace.id, conversationId);
  const key = `macro:${request.clientId}`;
  if (await isRepeated(tx, row, key)) return unchanged({ kind: "done" });
  const macro = workspace.settings.macros.find(({ name }) => name === request.name);
  if (macro === undefined || versionOfMacro(macro) !== request.version) {
    return unchanged({ kind: "refused", reason: "This macro was changed meanwhile. Look at it again." });
  }
  const refusal = await refusalOf(tx, row, macro, request, agent);
  if (refusal !== undefined) return unchanged(refusal);
  await recordRequest(tx, row, key, now);
  const all: (Effects | null)[] = [];
  for (const [at, action] of macro.actions.entries()) {
    const clientId = `${request.clientId}:${at}`;
    try {
      all.push(await applyOne(tx, dependencies, workspace, row, action, clientId, agent, followUp, now));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new Problem(error.code, `${describeMacroAction(action)}: ${error.message}`, { cause: error });
    }
  }
  return { result: { kind: "done" }, effects: joined(all) };
}

/** A colleague has the conversation, or it has changed since the agent saw it. Tags, priority and notes cannot conflict. */
async function refusalOf(
  tx: Tx,
  row: ConversationRow,
  { actions }: Macro,
  { expected, basedOnSeq }: MacroRequest,
  { email }: ActingAgent,
): Promise<AgentMessageResult | undefined> {
  const replies = actions.some(({ kind }) => kind === "reply");
  const harmless: ReadonlySet<MacroAction["kind"]> = new Set(["tag", "untag", "priority", "note"]);
  const decision = await decide(tx, row, email, {
    overrideOwner: !replies,
    expected: actions.some(({ kind }) => !harmless.has(kind)) ? expected : undefined,
    basedOnSeq: replies ? basedOnSeq : undefined,
  });
  if (decision.kind === "ok") return undefined;
  return decision.kind === "stale" ? decision : describeConflict(tx, row);
}

async function applyOne(
  tx: Tx,
  dependencies: MacroDependencies,
  workspace: Workspace,
  { id, customer_name: customer }: ConversationRow,
  action: MacroAction,
  clientId: string,
  agent: ActingAgent,
  followUp: FollowUp | undefined,
  now: number,
): Promise<Effects | null> {
  const { channels, search } = dependencies;
  const post = async (message: AgentMessage): Promise<Effects | null> =>
    doneEffects(await handleAgentMessage(tx, dependencies, workspace, id, message, agent, followUp, now), agent);
  if (action.kind === "note") return post({ kind: "note", content: action.text });
  if (action.kind === "reply") {
    const content = fillIn(action.text, { customer, agent: agent.name });
    return post({ kind: "reply", content, files: [], clientId, overrideOwner: true });
  }
  if (action.kind === "escalate") {
    const { status } = await requireConversation(tx, workspace.id, id);
    if (status === "escalated") return null;
    return updateConversation(tx, channels, search, workspace, id, { status: "escalated" }, agentActor(agent), now);
  }
  const requested = actionOf(action, now);
  return doneEffects(await applyAction(tx, dependencies, workspace, id, requested, agent, undefined, now), agent);
}

function actionOf(action: Exclude<MacroAction, { kind: "note" | "reply" | "escalate" }>, now: number): Action {
  switch (action.kind) {
    case "tag":
      return { kind: "describe", addTags: action.tags };
    case "untag":
      return { kind: "describe", removeTags: action.tags };
    case "priority":
      return { kind: "describe", priority: action.priority };
    case "assign":
      return action.to === null ? { kind: "take_over" } : { kind: "assign", to: action.to };
    case "snooze": {
      const { hours } = action;
      const snooze =
        hours === null ? ({ kind: "until_reply" } as const) : { kind: "until" as const, at: now + hours * 3_600_000 };
      return { kind: "snooze", snooze };
    }
    case "release":
    case "resolve":
      return { kind: action.kind };
  }
}

/** An action that was not done ends the transaction with those before it. */
function doneEffects({ result, effects }: Applied, { email }: ActingAgent): Effects | null {
  switch (result.kind) {
    case "done":
      return effects;
    case "conflict":
      throw new Problem("invalid_transition", conflictText(result, email));
    case "refused":
      throw new Problem("invalid_transition", result.reason);
    case "stale":
      throw new Problem("invalid_transition", "somebody has written since.");
  }
}

const joined = (all: readonly (Effects | null)[]): Effects => ({
  taken: all.flatMap((effects) => effects?.taken ?? []),
  wake: all.flatMap((effects) => effects?.wake ?? []),
  threads: all.flatMap((effects) => effects?.threads ?? []),
  workspaces: all.flatMap((effects) => effects?.workspaces ?? []),
});

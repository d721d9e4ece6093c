import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import { botMayAnswer } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import { readyIfLoaded } from "#conversations/delivery/bot-message.ts";
import type { Decision, DecisionDependencies, LiveAnswer } from "./decision.ts";
import { decide } from "./decision.ts";
import { storeDecision } from "./store-decision.ts";
import type { Turn, TurnDependencies } from "./turn.ts";
import type { TurnWork } from "./turn-kind.ts";
import { loadTurn } from "./turn.ts";
import { readConversation } from "#database/queries/conversations.ts";
import type { TurnCommit, TurnResult } from "./turn-committer.ts";
import { noReply } from "./turn-committer.ts";

export interface AnswerTurnDependencies extends DecisionDependencies, TurnDependencies {
  /** Made by {@link createTurnCommitter}; all turns share it, so that their commits are batched. */
  readonly commitTurn: (turn: TurnCommit) => Promise<TurnResult>;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly search: ConversationSearch;
}

/**
 * Answers the customer's messages since the last settled one: one answer for several messages, or, over the API, one for
 * each query. The reply is stored only if it is still the bot's turn. If the customer has written meanwhile, the answer
 * is discarded once, so that one reply answers all messages.
 */
export async function answerTurn(
  dependencies: AnswerTurnDependencies,
  workspace: Workspace,
  rows: readonly TurnWork[],
  live: LiveAnswer,
  signal: AbortSignal,
  /** The conversation, if the caller has just read it. */
  read?: ConversationRow,
): Promise<TurnResult> {
  const { store, channels, commitTurn } = dependencies;
  const [row] = rows;
  if (row === undefined) return noReply;
  const { payload } = row;
  const conversation = read ?? (await readConversation(store, payload.conversationId));
  if (conversation === undefined || !botMayAnswer(conversation.status)) return commitTurn({ rows, signal });
  await channels.ready({ id: conversation.account_id });
  if (conversation.via_account_id !== null) await readyIfLoaded(channels, conversation.via_account_id);
  const turn = await loadTurn(dependencies, workspace, conversation, payload);
  if (turn === undefined) return commitTurn({ rows, signal });
  const decision = await whileTyping(channels, turn, () => decide(dependencies, turn, live, signal));
  return commitTurn({
    rows,
    signal,
    reply: {
      workspaceId: workspace.id,
      conversationId: conversation.id,
      settings: turn.settings,
      add: (tx, draft) => storeDecision(tx, draft, channels, turn, rows, decision),
    },
  });
}

/** Shows the customer a typing indicator while the bot looks for an answer. */
async function whileTyping(
  channels: Channels,
  { conversation, settings, perQuery }: Turn,
  work: () => Promise<Decision>,
): Promise<Decision> {
  if (perQuery) return work();
  const { account_id: id, context_key: thread } = conversation;
  const stopTyping = channels.typingSoon({ id }, thread, { role: "assistant", name: settings.botName });
  let isRetried = false;
  try {
    return await work();
  } catch (error) {
    // The turn is retried soon, so the typing indicator stays on.
    isRetried = error instanceof Problem && error.code === "search_unavailable";
    throw error;
  } finally {
    if (!isRetried) stopTyping();
  }
}

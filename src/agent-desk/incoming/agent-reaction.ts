import type { DeskEvent } from "#channels/desk/contract.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { requestReaction } from "#conversations/feedback/reactions/agent-reaction.ts";
import { messageShownAs } from "#database/queries/desk.ts";
import type { Tx } from "#database/contract.ts";
import type { DeskEventResult, EventContext } from "./event-context.ts";
import { nothing } from "./message-posts.ts";

/** Gives the customer the reaction of an agent to the post that shows their message. */
export async function applyAgentReaction(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  { messageId: post, emoji, isAdded }: Extract<DeskEvent, { kind: "reacted" }>,
): Promise<DeskEventResult> {
  const { accountId, agent, workspace, now } = context;
  const shown = await messageShownAs(tx, accountId, post);
  if (shown === undefined || shown.conversation_id !== conversationId) return nothing;
  const { ref_id: messageId } = shown;
  if (!isAdded && !(await isCurrent(tx, messageId, agent.email, emoji))) return nothing;
  const row = await requireConversation(tx, workspace.id, conversationId);
  const change = { messageId, emoji: isAdded ? emoji : null };
  const { refusal, effects } = await requestReaction(tx, context, workspace, row, change, agent, now);
  return { effects, notice: refusal === null ? null : { text: refusal } };
}

/** False where a later reaction has replaced the agent's. */
async function isCurrent(tx: Tx, messageId: string, author: string, emoji: string): Promise<boolean> {
  const current = await tx
    .selectFrom("reactions")
    .select("emoji")
    .where("message_id", "=", messageId)
    .where("role", "=", "agent")
    .where("author", "=", author)
    .executeTakeFirst();
  return current?.emoji === emoji;
}

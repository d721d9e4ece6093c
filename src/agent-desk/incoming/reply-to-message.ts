import type { DeskAsk, DeskEvent } from "#channels/desk/contract.ts";
import { requireConversation } from "#conversations/transaction/lock-conversation.ts";
import { nameInConversation } from "#database/queries/agents.ts";
import { messageShownAs } from "#database/queries/desk.ts";
import type { Tx } from "#database/contract.ts";
import { decide } from "#conversations/agents/ownership.ts";
import { reply } from "./agent-message.ts";
import type { DeskEventResult, EventContext } from "./event-context.ts";
import { textMax } from "./message-posts.ts";

type ReplyRequest = Extract<DeskEvent, { kind: "asked" }>;

/**
 * Sends an agent's reply to one message, which a post of the thread shows. A refused text is given back in the notice,
 * since the dialog is closed by then.
 */
export async function replyToMessage(
  tx: Tx,
  context: EventContext,
  conversationId: string,
  { externalId }: Pick<ReplyRequest, "externalId">,
  { messageId: post, text }: Extract<DeskAsk, { kind: "reply" }>,
): Promise<DeskEventResult> {
  const { accountId, workspace, agent } = context;
  const refused = (reason: string): DeskEventResult => ({
    effects: null,
    notice: { text: `Nothing was sent: ${reason}. Your text was:\n${text}` },
  });
  const row = await requireConversation(tx, workspace.id, conversationId);
  const shown = await messageShownAs(tx, accountId, post);
  if (shown?.conversation_id !== conversationId) return refused("this post shows no message of the conversation");
  if (row.status === "archived") return refused("the conversation is archived");
  if (text.length > textMax) return refused(`a reply has at most ${textMax} characters`);
  const decision = await decide(tx, row, agent.email);
  if (decision.kind === "colleague") {
    return refused(`${await nameInConversation(tx, row, decision.email)} has this conversation`);
  }
  const attached = { ids: [], uploadedBy: agent.email, refersTo: shown.ref_id };
  const { effects } = await reply(tx, context, conversationId, externalId, text, attached);
  return { effects, notice: null };
}

import type { Tx } from "#database/contract.ts";

/** Whether an agent has written to the customer after this message of the conversation. */
export async function agentHasWritten(tx: Tx, conversationId: string, afterSeq: number): Promise<boolean> {
  const message = await tx
    .selectFrom("messages")
    .select("id")
    .where("conversation_id", "=", conversationId)
    .where("seq", ">", afterSeq)
    .where("role", "=", "agent")
    .limit(1)
    .executeTakeFirst();
  return message !== undefined;
}

import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";

type Conversation = Pick<ConversationRow, "id" | "account_id">;

const externalIdOf = (request: string): string => `inbox:${request}`;

/** Whether the request was recorded before. The caller must hold the lock of the conversation. */
export async function isRepeated(tx: Tx, { account_id: accountId }: Conversation, request: string): Promise<boolean> {
  const known = await tx
    .selectFrom("inbound_events")
    .select("id")
    .where("account_id", "=", accountId)
    .where("external_id", "=", externalIdOf(request))
    .executeTakeFirst();
  return known !== undefined;
}

export async function recordRequest(
  tx: Tx,
  { id, account_id: accountId }: Conversation,
  request: string,
  now: number,
): Promise<void> {
  await tx
    .insertInto("inbound_events")
    .values({
      account_id: accountId,
      external_id: externalIdOf(request),
      kind: "desk",
      payload: "{}",
      target_external_id: null,
      conversation_id: id,
      message_id: null,
      received_at: now,
    })
    .execute();
}

import type { Channels } from "#channels/channels.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { TypingParty } from "#channels/thread.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { Reader } from "#database/contract.ts";

/** Returns whether the channel can edit and delete replies that were already sent, and show agents' reactions. */
export async function editAbilities(
  channels: Channels,
  accountId: string,
  channel: Channel,
): Promise<Readonly<Record<"edit" | "remove" | "react", boolean>>> {
  if (channel === "api") return { edit: true, remove: true, react: false };
  try {
    await channels.ready({ id: accountId });
  } catch (error) {
    // Replies of a removed account can no longer be edited.
    if (!(error instanceof DeliveryError)) throw error;
    return { edit: false, remove: false, react: false };
  }
  const { edit, remove, react } = channels.adapter({ id: accountId });
  return { edit: edit !== undefined, remove: remove !== undefined, react: react !== undefined };
}

export async function showTyping(
  { read, channels }: { readonly read: Reader; readonly channels: Channels },
  workspaceId: string,
  conversationId: string,
  who: TypingParty,
): Promise<void> {
  const row = await read
    .selectFrom("conversations")
    .select(["account_id", "channel", "context_key"])
    .where("id", "=", conversationId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (row === undefined) throw new Problem("conversation_not_found", "there is no conversation with this id");
  // API conversations show no typing indicator.
  if (row.channel === "api") return;
  const account = { id: row.account_id };
  await channels.ready(account);
  channels.typing(account, row.context_key, who);
}

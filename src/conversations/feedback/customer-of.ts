import { isChat } from "#channels/catalog.ts";
import type { Sender } from "#channels/contract.ts";
import { keysOfSender } from "#conversations/contacts/identities.ts";
import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Channel } from "#domain/conversation/message.ts";

/** Whether the sender has written in the conversation: in a group, others see its buttons too. */
export async function isCustomerOf(tx: Tx, row: ConversationRow, channel: Channel, sender: Sender): Promise<boolean> {
  // Only its own customer reads a chat.
  if (isChat(channel)) return true;
  const { session } = keysOfSender({ workspaceId: row.workspace_id, channel, sender });
  const identity = await tx
    .selectFrom("identities")
    .innerJoin("contacts as contact", "contact.id", "identities.contact_id")
    .select("contact.root_id as root")
    .where("identities.workspace_id", "=", session.workspace_id)
    .where("identities.kind", "=", session.kind)
    .where("identities.value", "=", session.value)
    .executeTakeFirst();
  if (identity === undefined) return false;
  if (identity.root === row.contact_id) return true;
  const message = await tx
    .selectFrom("messages as message")
    .innerJoin("contacts as author", "author.id", "message.author_id")
    .select("message.id")
    .where("message.conversation_id", "=", row.id)
    .where("message.role", "=", "user")
    .where("author.root_id", "=", identity.root)
    .limit(1)
    .executeTakeFirst();
  return message !== undefined;
}

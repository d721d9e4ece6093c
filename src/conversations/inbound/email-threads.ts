import type { Sender } from "#channels/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { emailKey, linkConversations } from "#database/queries/conversations.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import type { KnownContact } from "#conversations/contacts/contacts.ts";
import type { Tx } from "#database/contract.ts";

// Rules for e-mail, where a thread can be forwarded and can continue the conversation of another account.

/**
 * Returns whether the sender is the conversation's own customer: the same contact, or the customer's e-mail address.
 * For a verified customer an unproven address does not count, because a From header can be forged.
 */
export function isCustomer(row: ConversationRow, { contact, ownerId }: KnownContact, sender: Sender): boolean {
  if (contact.id === row.contact_id || ownerId === (row.own_contact_id ?? row.contact_id)) return true;
  const proven = sender.proven?.email;
  const address = proven ?? (row.customer_verified === 0 ? sender.claimed?.email : undefined);
  return address !== undefined && row.customer_email_key !== null && emailKey(address) === row.customer_email_key;
}

export function guestNote({ proven, claimed }: Sender, { name }: KnownContact["contact"]): string {
  const address = proven?.email ?? claimed?.email ?? "an unknown address";
  const caveat = proven?.email === undefined ? ", which is not proven," : "";
  return `Somebody else than the customer has written here: ${name === null ? "" : `${name}, `}${address}${caveat} is not the address of this conversation. The bot does not answer this; make sure who it is before you tell them anything.`;
}

/** Returns whether the event's thread can continue a conversation of another account. */
export const continuesElsewhere = ({ event }: IncomingEvent): boolean =>
  event.kind === "agent" || event.kind === "notice" || (event.kind === "message" && event.checkSender === true);

export async function linkMessageRefs(
  tx: Tx,
  incoming: readonly IncomingEvent[],
  results: readonly IngestResult[],
): Promise<void> {
  const links = incoming.flatMap(({ account, event }, i) => {
    const conversationId = results[i]?.conversationId;
    if (conversationId === null || conversationId === undefined || results[i]?.duplicate === true) return [];
    const messageRefs = "messageRefs" in event ? (event.messageRefs ?? []) : [];
    return messageRefs.map((name) => ({
      account_id: account.id,
      kind: "mark" as const,
      name,
      conversation_id: conversationId,
    }));
  });
  await linkConversations(tx, links);
}

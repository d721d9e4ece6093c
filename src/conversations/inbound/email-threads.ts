import type { InboundEvent, Sender } from "#channels/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { emailKey, linkConversations } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { IncomingEvent, IngestResult } from "./incoming-event.ts";
import type { MessageFiles } from "#conversations/attachments/attachments.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { KnownContact } from "#conversations/contacts/contacts.ts";
import type { Tx } from "#database/contract.ts";
import { claim } from "#conversations/agents/update.ts";

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

/** Stores a message that an agent wrote on the platform. Claims the conversation, as a reply from the inbox does. */
export function addAgentMessage(
  draft: Draft,
  accountId: string,
  event: Extract<InboundEvent, { kind: "agent" }>,
  files: MessageFiles,
): MessagesTable {
  const { row } = draft;
  const { email, name } = event.author;
  if (row.status === "open" || row.status === "escalated") claim(draft, email, { type: "agent", id: email, name });
  const message = draft.addMessage({
    role: "agent",
    content: event.text,
    authorId: email,
    authorName: name,
    externalId: event.messageExternalId ?? event.externalId,
    ...(event.metadata === undefined ? {} : { metadata: JSON.stringify(event.metadata) }),
    files,
    parts: (event.parts ?? []).map((part) => ({
      payload: JSON.stringify(part),
      ...(row.account_id === accountId ? {} : { elsewhere: { accountId, afterMs: 0 } }),
    })),
  });
  row.settled_seq = row.last_customer_seq;
  return message;
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
    const messageRefs = event.kind === "message" || event.kind === "agent" ? (event.marks ?? []) : [];
    return messageRefs.map((name) => ({
      account_id: account.id,
      kind: "mark" as const,
      name,
      conversation_id: conversationId,
    }));
  });
  await linkConversations(tx, links);
}

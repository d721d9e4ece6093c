import { contactKeys } from "#domain/customer/contact-keys.ts";
import type { InboundEvent } from "#channels/contract.ts";
import type { Attributes } from "#domain/workspace/audience.ts";
import { isChat } from "#channels/catalog.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import { emitContactEvents } from "#conversations/transaction/effects/events.ts";
import { customerActor, showContact } from "./contacts.ts";
import { identityValue } from "./identities.ts";
import type { Asker } from "#answering/contract.ts";
import type { Reader, Tx } from "#database/contract.ts";
import { contactFields, provenanceOf, withValues } from "#domain/customer/provenance.ts";

interface AskerWithAttributes extends Asker {
  readonly attributes: Attributes;
}

/**
 * Returns the verified user who asks: over the API the user of the request, elsewhere the customer. Returns null if
 * several people have written in the conversation or, in a chat, if one of the messages to answer (`asked`) was sent
 * without proof.
 */
export async function verifiedUser(
  db: Reader,
  row: Pick<ConversationRow, "id" | "channel" | "workspace_id" | "account_id" | "contact_id" | "customer_verified">,
  messages: readonly { readonly role: string; readonly author_id: string | null }[],
  asked: readonly { readonly id: string }[],
  request: { readonly userId: string | undefined } | undefined,
): Promise<AskerWithAttributes | null> {
  if (request !== undefined) return request.userId === undefined ? null : userOf(db, row.workspace_id, request.userId);
  if (row.customer_verified === 0) return null;
  const authors = new Set(messages.filter(({ role }) => role === "user").map(({ author_id }) => author_id));
  if (authors.size !== 1) return null;
  const contact = await db
    .selectFrom("contacts")
    .select(["user_id", "email", "attributes", "provenance"])
    .where("id", "=", row.contact_id)
    .executeTakeFirst();
  if (contact === undefined || contact.user_id === null) return null;
  if (isChat(row.channel) && !(await areProven(db, row, asked, contact.user_id))) return null;
  return describe(contact.user_id, contact);
}

/** Checks the stored events. Messages from another account were verified by that account's platform. */
async function areProven(
  db: Reader,
  { id, account_id }: Pick<ConversationRow, "id" | "account_id">,
  asked: readonly { readonly id: string }[],
  userId: string,
): Promise<boolean> {
  const events = await db
    .selectFrom("inbound_events")
    .select("payload")
    .where("conversation_id", "=", id)
    .where(
      "message_id",
      "in",
      asked.map((message) => message.id),
    )
    .where("account_id", "=", account_id)
    .where("kind", "=", "message")
    .execute();
  return events.every(({ payload }) => {
    // The daily cleanup empties old payloads.
    const { sender } = JSON.parse(payload) as Partial<Extract<InboundEvent, { kind: "message" }>>;
    return sender === undefined || sender.verified?.userId === userId;
  });
}

export async function userOf(db: Reader, workspaceId: string, userId: string): Promise<AskerWithAttributes | null> {
  const contact = await db
    .selectFrom("identities")
    .innerJoin("contacts as owner", "owner.id", "identities.contact_id")
    .innerJoin("contacts as root", "root.id", "owner.root_id")
    .select(["root.user_id", "root.email", "root.attributes", "root.provenance"])
    .where("identities.workspace_id", "=", workspaceId)
    .where("identities.kind", "=", "user_id")
    .where("identities.value", "=", identityValue(userId))
    .executeTakeFirst();
  return contact?.user_id === userId ? describe(userId, contact) : null;
}

/** The e-mail address is included only if the company has verified it. */
function describe(
  id: string,
  contact: Pick<ContactsTable, "email" | "attributes" | "provenance">,
): AskerWithAttributes {
  const attributes = JSON.parse(contact.attributes) as Attributes;
  const { plan } = attributes;
  return {
    id,
    email: provenanceOf(contact).email === "company" ? contact.email : null,
    plan: typeof plan === "string" ? plan : null,
    attributes,
  };
}

/** Stores what customers say about themselves. Verified values stay. */
export async function claimDetails(
  tx: Tx,
  draft: Draft,
  claimed: { readonly name?: string; readonly email?: string; readonly phone?: string },
  now: number,
): Promise<void> {
  const contact = await tx.selectFrom("contacts").selectAll().where("id", "=", draft.row.contact_id).executeTakeFirst();
  if (contact === undefined) return;
  const next = withValues(contact, claimed, "claim");
  const isChanged = contactFields.some((field) => next[field] !== contact[field]);
  const after = isChanged ? { ...contact, ...next, updated_at: now } : contact;
  if (isChanged) {
    await tx
      .updateTable("contacts")
      .set({ ...next, updated_at: now, ...contactKeys(next) })
      .where("id", "=", contact.id)
      .execute();
    await emitContactEvents(tx, [after], customerActor(after), now);
  }
  const ownerId = draft.row.own_contact_id ?? contact.id;
  if (showContact(draft, { contact: after, ownerId }, customerActor(after))) draft.touch();
}

import type { ConversationRow } from "#store/conversations.ts";
import type { Draft } from "./changes.ts";
import { identityValue, provenOf, showContact } from "./contacts.ts";
import type { Reader, Tx, VerifiedUser } from "./ports.ts";

/**
 * The user who asks, where that is proven: over the API by the request itself (`request`), elsewhere by what is known of
 * the customer. Where several people write in one conversation, nobody is.
 */
export async function verifiedUser(
  db: Reader,
  row: Pick<ConversationRow, "workspace_id" | "contact_id" | "customer_verified">,
  messages: readonly { readonly role: string; readonly author_id: string | null }[],
  request: { readonly userId: string | undefined } | undefined,
): Promise<VerifiedUser | null> {
  if (request !== undefined) return request.userId === undefined ? null : userOf(db, row.workspace_id, request.userId);
  if (row.customer_verified === 0) return null;
  const authors = new Set(messages.filter(({ role }) => role === "user").map(({ author_id }) => author_id));
  if (authors.size !== 1) return null;
  const contact = await db
    .selectFrom("contacts")
    .select(["user_id", "email", "attributes"])
    .where("id", "=", row.contact_id)
    .executeTakeFirst();
  return contact === undefined || contact.user_id === null ? null : describe(contact.user_id, contact);
}

async function userOf(db: Reader, workspaceId: string, userId: string): Promise<VerifiedUser | null> {
  const contact = await db
    .selectFrom("identities")
    .innerJoin("contacts as owner", "owner.id", "identities.contact_id")
    .innerJoin("contacts as root", "root.id", "owner.root_id")
    .select(["root.user_id", "root.email", "root.attributes"])
    .where("identities.workspace_id", "=", workspaceId)
    .where("identities.kind", "=", "user_id")
    .where("identities.value", "=", identityValue(userId))
    .executeTakeFirst();
  return contact?.user_id === userId ? describe(userId, contact) : null;
}

function describe(
  id: string,
  { email, attributes }: { readonly email: string | null; readonly attributes: string },
): VerifiedUser {
  const { plan } = JSON.parse(attributes) as { readonly plan?: unknown };
  return { id, email, plan: typeof plan === "string" ? plan : null };
}

/** Keeps what a customer says of themselves, as far as it contradicts nothing that is proven. */
export async function claimDetails(
  tx: Tx,
  draft: Draft,
  claimed: { readonly name?: string; readonly email?: string; readonly phone?: string },
  now: number,
): Promise<void> {
  const contact = await tx.selectFrom("contacts").selectAll().where("id", "=", draft.row.contact_id).executeTakeFirst();
  if (contact === undefined) return;
  const proven = provenOf(contact);
  const value = (field: "name" | "email" | "phone"): string | null =>
    contact.user_id !== null || proven.includes(field)
      ? (contact[field] ?? claimed[field] ?? null)
      : (claimed[field] ?? contact[field]);
  const next = { name: value("name"), email: value("email"), phone: value("phone"), updated_at: now };
  await tx.updateTable("contacts").set(next).where("id", "=", contact.id).execute();
  const ownerId = draft.row.own_contact_id ?? contact.id;
  if (showContact(draft.row, { contact: { ...contact, ...next }, ownerId })) draft.touch();
}

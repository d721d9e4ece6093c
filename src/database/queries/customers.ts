import { contactEmailKey } from "#domain/customer/contact-keys.ts";
import { emailIdentity } from "#domain/customer/identity-proof.ts";
import type { Reader } from "#database/contract.ts";
import { emailKey } from "./conversations.ts";
import type { ContactsTable } from "#database/schema/tables.ts";

/** Without the keys, which only searches read. */
export const contactColumns = [
  "id",
  "workspace_id",
  "name",
  "email",
  "phone",
  "user_id",
  "attributes",
  "provenance",
  "pending_start",
  "merged_into",
  "root_id",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof ContactsTable)[];

/** The contacts of a person with an e-mail address, whether verified or merged or not. */
export interface Customer {
  readonly contacts: readonly ContactsTable[];
  readonly conversationIds: readonly string[];
}

/** Most values in one condition. */
const inMax = 500;

export async function customerByEmail(db: Reader, workspaceId: string, email: string): Promise<Customer> {
  const key = emailKey(email.trim());
  const ids = new Set<string>();
  const named = db.selectFrom("identities").select("contact_id").where("workspace_id", "=", workspaceId);
  for (const row of await named
    .where("kind", "=", "email")
    .where("value", "in", [...new Set([key, emailIdentity(email) ?? key])])
    .execute())
    ids.add(row.contact_id);
  const claimed = db.selectFrom("contacts").select("id").where("workspace_id", "=", workspaceId);
  for (const { id } of await claimed.where("email_key", "=", contactEmailKey(email)).execute()) ids.add(id);
  const shown = await db
    .selectFrom("conversations")
    .select(["id", "contact_id", "own_contact_id"])
    .where("workspace_id", "=", workspaceId)
    .where("customer_email_key", "=", key)
    .execute();
  for (const { contact_id, own_contact_id } of shown) {
    ids.add(contact_id);
    if (own_contact_id !== null) ids.add(own_contact_id);
  }
  const contacts = await mergedWith(db, workspaceId, [...ids]);
  const conversationIds = new Set(shown.map(({ id }) => id));
  for (const some of chunks(contacts.map(({ id }) => id))) {
    const rows = await db
      .selectFrom("conversations")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("contact_id", "in", some)
      .execute();
    for (const { id } of rows) conversationIds.add(id);
  }
  return { contacts, conversationIds: [...conversationIds].toSorted() };
}

/** These contacts, and all contacts merged with any of them. */
export async function mergedWith(
  db: Reader,
  workspaceId: string,
  ids: readonly string[],
): Promise<readonly ContactsTable[]> {
  const roots = new Set<string>();
  for (const some of chunks(ids)) {
    const rows = await db
      .selectFrom("contacts")
      .select("root_id")
      .where("workspace_id", "=", workspaceId)
      .where("id", "in", some)
      .execute();
    for (const { root_id } of rows) roots.add(root_id);
  }
  const contacts: ContactsTable[] = [];
  for (const some of chunks([...roots])) {
    contacts.push(...(await db.selectFrom("contacts").select(contactColumns).where("root_id", "in", some).execute()));
  }
  return contacts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export function* chunks<T>(all: readonly T[], size = inMax): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

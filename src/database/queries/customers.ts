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

/** Names a customer: by an address, or by one of their contacts where they have none. */
export type CustomerKey = { readonly email: string } | { readonly contactId: string };

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
  const theirs = await conversationsOf(
    db,
    workspaceId,
    contacts.map(({ id }) => id),
  );
  return { contacts, conversationIds: [...new Set([...shown.map(({ id }) => id), ...theirs])].toSorted() };
}

/** All that is held of a customer. A contact with an address is found with all that has this address. */
export async function customerOf(db: Reader, workspaceId: string, key: CustomerKey): Promise<Customer> {
  if ("email" in key) return customerByEmail(db, workspaceId, key.email);
  const merged = await mergedWith(db, workspaceId, [key.contactId]);
  const proven: { readonly value: string }[] = [];
  for (const some of chunks(merged.map(({ id }) => id))) {
    const identities = db.selectFrom("identities").select("value").where("contact_id", "in", some);
    proven.push(...(await identities.where("kind", "=", "email").execute()));
  }
  const named = [...merged.map(({ email }) => email ?? ""), ...proven.map(({ value }) => value)];
  const emails = new Set(named.map((email) => email.toLowerCase()).filter((email) => email !== ""));
  const byEmail = await Promise.all([...emails].map((email) => customerByEmail(db, workspaceId, email)));
  const contacts = new Map([...merged, ...byEmail.flatMap((each) => each.contacts)].map((each) => [each.id, each]));
  // Last: an erasure in parts that is repeated finds the others by it.
  const own = contacts.get(key.contactId);
  contacts.delete(key.contactId);
  const all = [...contacts.values(), ...(own === undefined ? [] : [own])];
  const ids = all.map(({ id }) => id);
  const found = [...(await conversationsOf(db, workspaceId, ids)), ...byEmail.flatMap((each) => each.conversationIds)];
  return { contacts: all, conversationIds: [...new Set(found)].toSorted() };
}

async function conversationsOf(db: Reader, workspaceId: string, contactIds: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const some of chunks(contactIds)) {
    const rows = await db
      .selectFrom("conversations")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("contact_id", "in", some)
      .execute();
    found.push(...rows.map(({ id }) => id));
  }
  return found;
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

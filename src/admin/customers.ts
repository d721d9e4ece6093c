import type { Actor } from "#domain/conversation/message.ts";
import { counted } from "#domain/plural.ts";
import { Problem } from "#domain/problem.ts";
import { contactPage } from "#conversations/contacts/contact-list.ts";
import { queueErasure } from "#conversations/retention/queued-erasure.ts";
import type { Reader, Store } from "#database/contract.ts";
import type { CustomerKey } from "#database/queries/customers.ts";
import { customerByEmail, customerOf, mergedWith } from "#database/queries/customers.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import type { Clock } from "#runtime/clock.ts";
import { recordChange } from "./audit.ts";

const iso = (at: number): string => new Date(at).toISOString();

/** All merged contacts of the customer with this id or e-mail address, with their identities and conversations. */
export async function showContact(
  store: Store,
  workspaceId: string,
  who: { readonly id: string } | { readonly email: string },
) {
  const db = store.read;
  const contacts =
    "id" in who
      ? await mergedWith(db, workspaceId, [who.id])
      : (await customerByEmail(db, workspaceId, who.email)).contacts;
  if (contacts.length === 0) {
    const name = "id" in who ? `contact ${who.id}` : `customer with the address ${who.email}`;
    throw new Problem("not_found", `there is no ${name} in this workspace`);
  }
  return Promise.all(contacts.map((contact) => describe(db, contact)));
}

const foundMax = 50;

/** The contacts with this e-mail address, phone number, user id or id, with all contacts merged with them. */
export async function findContacts(db: Reader, workspaceId: string, text: string) {
  const value = text.trim();
  const pages = await Promise.all([
    contactPage(db, { workspaceId, phone: value }, undefined, foundMax),
    contactPage(db, { workspaceId, userId: value }, undefined, foundMax),
  ]);
  const others = pages.flatMap(({ rows }) => rows.map(({ id }) => id));
  const named = value.includes("@") ? (await customerByEmail(db, workspaceId, value)).contacts : [];
  const all = await mergedWith(db, workspaceId, [...named.map(({ id }) => id), ...others, value]);
  const contacts = all
    .slice(0, foundMax)
    .map(({ id, name, email, phone, user_id }) => ({ id, name, email, phone, user_id }));
  if (contacts.length === 0) return [];
  const ids = contacts.map(({ id }) => id);
  const counts = await db
    .selectFrom("conversations")
    .select((eb) => ["contact_id", eb.fn.countAll<number | string>().as("count")])
    .where("contact_id", "in", ids)
    .groupBy("contact_id")
    .execute();
  const countOf = new Map(counts.map(({ contact_id: id, count }) => [id, Number(count)]));
  return contacts.map((contact) => ({ ...contact, conversation_count: countOf.get(contact.id) ?? 0 }));
}

/** Queues the erasure of a customer. The audit entry stays, so it has no address. */
export async function requestErasure(
  store: Store,
  clock: Clock,
  { workspaceId, by, customer }: { readonly workspaceId: string; readonly by: Actor; readonly customer: CustomerKey },
): Promise<void> {
  const { contacts, conversationIds } = await customerOf(store.read, workspaceId, customer);
  // The address of a customer who is known by an id only would erase nothing, and look done.
  if (contacts.length === 0 && conversationIds.length === 0) {
    const reason = "email" in customer ? "email: no customer has this address" : "contact_id: there is no such contact";
    throw new Problem("not_found", reason);
  }
  const subject = `${counted(contacts.length, "contact")}, ${counted(conversationIds.length, "conversation")}`;
  await store.write(async (tx) => {
    const now = clock.now();
    await queueErasure(tx, workspaceId, customer, now);
    await recordChange(tx, { workspaceId, by, action: "customer_erased", subject, now });
  });
}

async function describe(db: Reader, contact: ContactsTable) {
  const identities = await db
    .selectFrom("identities")
    .select(["kind", "value", "verified"])
    .where("contact_id", "=", contact.id)
    .orderBy("kind")
    .limit(100)
    .execute();
  const conversations = await db
    .selectFrom("conversations")
    .select(["id", "channel", "status", "started_at", "own_contact_id"])
    .where("contact_id", "=", contact.id)
    .orderBy("started_at", "desc")
    .limit(100)
    .execute();
  return {
    id: contact.id,
    name: contact.name,
    email: contact.email,
    phone: contact.phone,
    user_id: contact.user_id,
    merged_into: contact.merged_into,
    created_at: iso(contact.created_at),
    identities: identities.map(({ kind, value, verified }) => ({ kind, value, verified: verified === 1 })),
    conversations: conversations.map(({ started_at, own_contact_id, ...row }) => ({
      ...row,
      started_at: iso(started_at),
      came_from: own_contact_id,
    })),
  };
}

import type { VerifiedUser } from "#domain/customer/user-token.ts";
import { emailKey } from "#database/queries/conversations.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import type { Tx } from "#database/contract.ts";
import type { Actor } from "#domain/conversation/message.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { ChannelSender, SenderKeys } from "./identities.ts";
import { keysOfSender } from "./identities.ts";
import type { ContactChanges, LoadedContacts } from "./loaded-contacts.ts";
import { loadRows } from "./loaded-contacts.ts";
import { verifiedFields, withValues } from "#domain/customer/provenance.ts";

/** A customer: the root contact after merges, and the contact that first had this identity. */
export interface KnownContact {
  readonly contact: ContactsTable;
  readonly ownerId: string;
}

export interface Contacts {
  /**
   * Returns the person's contact, and creates it if needed. A verified user id, e-mail address or phone number that
   * belongs to another contact merges the two. Claims never merge contacts, and neither do two different user ids.
   */
  of(person: ChannelSender): KnownContact;
  /** Whether the session belongs to a user, and this person has no proof to be that user. */
  isOfAnother(person: ChannelSender): boolean;
  /** Whether the contact was created in this transaction and therefore has no earlier conversations. */
  isNew(contactId: string): boolean;
  setClaimed(
    contact: ContactsTable,
    claimed: { readonly name?: string; readonly email?: string; readonly phone?: string },
  ): void;
  /** Keeps the payload of the link that the customer followed; an earlier one is replaced. */
  setPendingStart(contact: ContactsTable, payload: string): void;
  /** Returns that payload once; null: there is none. */
  takePendingStart(contact: ContactsTable): string | null;
  /** Writes all changes, and passes follow-up work and events to `changes`. */
  flush(tx: Tx, changes: ContactChanges): Promise<void>;
}

/** Loads contacts. The number of statements does not grow with the number of keys. */
export async function loadContacts(tx: Tx, senders: readonly ChannelSender[], now: number): Promise<Contacts> {
  const rows = await loadRows(tx, senders.map(keysOfSender), now);
  return {
    of(person) {
      const { sender, workspaceId } = person;
      const keys = keysOfSender(person);
      const { session, user, addresses } = keys;
      const found = [rows.contactOf(user), rows.contactOf(session), ...addresses.map((key) => rows.contactOf(key))];
      const reason = user?.kind ?? addresses[0]?.kind ?? "user_id";
      const contact =
        rows.merge(sameCustomer(rows, found, sender.verified?.userId), reason) ??
        rows.add(workspaceId, sender.name ?? null);
      // The platform may send the name later than the first message.
      if (contact.name === null && sender.name !== undefined) rows.setFields(contact, { name: sender.name });
      // A session stays with the contact that first had it, if that is the same customer.
      const firstId = rows.contactOf(session) === contact ? rows.ownerIdOf(session) : undefined;
      const ownerId = firstId ?? contact.id;
      if (sender.verified !== undefined) setVerified(rows, contact, sender.verified);
      linkKeys(rows, keys, contact, ownerId);
      return { contact, ownerId };
    },
    isOfAnother(person) {
      const owner = rows.contactOf(keysOfSender(person).session)?.user_id ?? null;
      return owner !== null && owner !== person.sender.verified?.userId;
    },
    isNew: rows.isNew,
    setClaimed(contact, claimed) {
      rows.setFields(contact, withValues(contact, claimed, "claim"));
    },
    setPendingStart: rows.setPendingStart,
    takePendingStart(contact) {
      const payload = contact.pending_start;
      rows.setPendingStart(contact, null);
      return payload;
    },
    flush: rows.flush,
  };
}

/** Returns the contacts that are the same person: the verified user first, other users excluded. */
function sameCustomer(
  rows: LoadedContacts,
  found: readonly (ContactsTable | undefined)[],
  verifiedUserId: string | undefined,
): ContactsTable[] {
  const group: ContactsTable[] = [];
  let userId = verifiedUserId ?? null;
  for (const contact of found) {
    if (contact === undefined || group.includes(contact)) continue;
    if (contact.user_id !== null && userId !== null && contact.user_id !== userId) continue;
    if (group.some((other) => rows.wereSplit(contact, other))) continue;
    group.push(contact);
    userId ??= contact.user_id;
  }
  return group;
}

function setVerified(rows: LoadedContacts, contact: ContactsTable, verified: VerifiedUser): void {
  const { userId, attributes, ...values } = verified;
  rows.setFields(contact, {
    ...withValues(contact, values, "company"),
    user_id: userId,
    attributes: attributes === undefined ? contact.attributes : JSON.stringify(attributes),
  });
}

/** Links the person's identities, and copies addresses that the platform has verified. */
function linkKeys(
  rows: LoadedContacts,
  { session, user, addresses }: SenderKeys,
  contact: ContactsTable,
  ownerId: string,
): void {
  rows.link(session, ownerId, user !== undefined || addresses.length > 0);
  if (user !== undefined && rows.contactOf(user) === undefined) rows.link(user, contact.id, true);
  for (const key of addresses) {
    const owner = rows.contactOf(key);
    // An address that belongs to another user stays with that user.
    if (owner === undefined) rows.link(key, ownerId, true);
    if (owner === undefined || owner === contact) {
      rows.setFields(contact, withValues(contact, { [key.kind]: key.value }, "platform"));
    }
  }
}

/** Returns user ids of these contacts, merges followed. */
export async function userIdsOf(tx: Tx, contactIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (contactIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom("contacts")
    .innerJoin("contacts as root", "root.id", "contacts.root_id")
    .select(["contacts.id", "root.user_id"])
    .where("contacts.id", "in", contactIds)
    .execute();
  return new Map(rows.flatMap(({ id, user_id }) => (user_id === null ? [] : [[id, user_id] as const])));
}

export const customerActor = ({ id, name }: Pick<ContactsTable, "id" | "name">): Actor => ({
  type: "customer",
  id,
  name,
});

/** Whether the company or a platform has verified the contact. */
export const isVerified = (contact: ContactsTable): boolean =>
  contact.user_id !== null || verifiedFields(contact).length > 0;

/**
 * Copies the contact's data to the conversation, for lists and filters. `by`: the author of the change. Returns true if
 * anything changed.
 */
export function showContact(draft: Draft, { contact, ownerId }: KnownContact, by: Actor): boolean {
  const { row } = draft;
  const next = {
    contact_id: contact.id,
    own_contact_id: ownerId === contact.id ? null : ownerId,
    customer_name: contact.name,
    customer_email: contact.email,
    customer_email_key: contact.email === null ? null : emailKey(contact.email),
    customer_phone: contact.phone,
    customer_verified: isVerified(contact) ? (1 as const) : (0 as const),
  };
  const changed = (Object.keys(next) as (keyof typeof next)[]).some((key) => row[key] !== next[key]);
  Object.assign(row, next);
  if (changed) draft.customerChangedBy(by);
  return changed;
}

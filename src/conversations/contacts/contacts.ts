import { hash } from "node:crypto";
import type { Sender } from "#channels/contract.ts";
import { emailIdentity, phoneIdentity } from "#domain/customer/identity-proof.ts";
import { newId } from "#domain/ids.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { emailKey } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import type { ContactsTable, IdentitiesTable } from "#database/schema/tables.ts";
import type { Merge } from "./merge.ts";
import { chooseRoot, joinInMemory, moveWork, storeMerge } from "./merge.ts";
import type { IdentityKey } from "./identities.ts";
import { loadIdentities, saveIdentities, textOf, undoneMerges } from "./identities.ts";
import { verifiedFields, withValues } from "./provenance.ts";
import type { Tx } from "#database/contract.ts";

/** The sender's identity on the platform, and what a signature or the platform proves. */
export interface ContactKey {
  readonly workspaceId: string;
  readonly channel: Channel;
  readonly sender: Sender;
}

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
  of(person: ContactKey): KnownContact;
  /** Whether the session belongs to a user, and this person has no proof to be that user. */
  isOfAnother(person: ContactKey): boolean;
  /** Whether the contact was created in this transaction and therefore has no earlier conversations. */
  isNew(contactId: string): boolean;
  setClaimed(
    contact: ContactsTable,
    claimed: { readonly name?: string; readonly email?: string; readonly phone?: string },
  ): void;
  /** Writes all changes and passes follow-up work to `addWork`. */
  flush(tx: Tx, addWork: (work: NewWork) => void): Promise<void>;
}

interface Keys {
  readonly session: IdentityKey;
  readonly user: IdentityKey | undefined;
  readonly addresses: readonly IdentityKey[];
}

function keysOf({ workspaceId, channel, sender }: ContactKey): Keys {
  const key = (kind: string, value: string): IdentityKey => ({
    workspace_id: workspaceId,
    kind,
    value: identityValue(value),
  });
  const phone = phoneIdentity(sender.proven?.phone ?? "");
  const email = emailIdentity(sender.proven?.email ?? "");
  return {
    session: key(channel, sender.key),
    user: sender.verified === undefined ? undefined : key("user_id", sender.verified.userId),
    addresses: [
      ...(phone === undefined ? [] : [key("phone", phone)]),
      ...(email === undefined ? [] : [key("email", email)]),
    ],
  };
}

/** Length of the column `identities.value` in characters. */
const identityMax = 190;

/**
 * Value of the column `identities.value`. MySQL ignores trailing spaces in comparisons, but "ada " and "ada" are two users,
 * so a value that ends in a space gets a NUL appended.
 */
export function identityValue(value: string): string {
  if (!/[ \0]$/.test(value)) return value;
  // The longest values have no room for it.
  return [...value].length < identityMax ? `${value}\0` : `sha256:${hash("sha256", value)}\0`;
}

/** Loads contacts. The number of statements does not grow with the number of keys. */
export async function loadContacts(tx: Tx, contactKeys: readonly ContactKey[], now: number): Promise<Contacts> {
  const keys = contactKeys.map(keysOf);
  const { identities, contacts } = await loadIdentities(
    tx,
    keys.flatMap(({ session, user, addresses }) => [session, ...(user === undefined ? [] : [user]), ...addresses]),
  );
  const added = new Set<string>();
  const changed = new Set<string>();
  const changedIdentities = new Map<string, IdentitiesTable>();
  const merges: Merge[] = [];

  function rootOf(contactId: string): ContactsTable | undefined {
    const contact = contacts.get(contactId);
    return contact === undefined ? undefined : (contacts.get(contact.root_id) ?? contact);
  }

  function contactOf(key: IdentityKey | undefined): ContactsTable | undefined {
    const id = key === undefined ? undefined : identities.get(textOf(key))?.contact_id;
    return id === undefined ? undefined : rootOf(id);
  }

  /** Contacts whose merge was undone must not be merged again automatically. */
  const parted = keys.some(({ session, user, addresses }) => {
    const found = [session, user, ...addresses].map((key) => contactOf(key)?.id).filter((id) => id !== undefined);
    return new Set(found).size > 1;
  })
    ? await undoneMerges(tx, [...contacts.keys()])
    : new Set<string>();

  function link(key: IdentityKey, contactId: string, verified: boolean): void {
    const known = identities.get(textOf(key));
    const flag = verified ? 1 : 0;
    if (known?.contact_id === contactId && known.verified >= flag) return;
    const row: IdentitiesTable = {
      ...key,
      contact_id: contactId,
      verified: flag === 1 || (known?.contact_id === contactId && known.verified === 1) ? 1 : 0,
      created_at: known?.created_at ?? now,
    };
    identities.set(textOf(key), row);
    changedIdentities.set(textOf(key), row);
  }

  /** Contacts that are this person: the verified user first, other users excluded. */
  function same(found: readonly (ContactsTable | undefined)[], provenUser: string | undefined): ContactsTable[] {
    const group: ContactsTable[] = [];
    let userId = provenUser ?? null;
    for (const contact of found) {
      if (contact === undefined || group.includes(contact)) continue;
      if (contact.user_id !== null && userId !== null && contact.user_id !== userId) continue;
      if (group.some((other) => parted.has(`${contact.id}\n${other.id}`))) continue;
      group.push(contact);
      userId ??= contact.user_id;
    }
    return group;
  }

  function join(group: readonly ContactsTable[], reason: string): ContactsTable | undefined {
    const root = chooseRoot(group);
    for (const other of group) {
      if (root === undefined || other === root) continue;
      merges.push(joinInMemory(other, root, contacts.values(), reason, now));
      changed.add(root.id);
    }
    return root;
  }

  return {
    of(person) {
      const { session, user, addresses } = keysOf(person);
      const { verified } = person.sender;
      const found = [contactOf(user), contactOf(session), ...addresses.map((key) => contactOf(key))];
      const reason = user?.kind ?? addresses[0]?.kind ?? "user_id";
      const contact = join(same(found, verified?.userId), reason) ?? add(person);
      // The platform may send the name later than the first message.
      if (contact.name === null && person.sender.name !== undefined) setFields(contact, { name: person.sender.name });
      const before = identities.get(textOf(session));
      // A session stays with the contact that first had it, if that is the same customer.
      const ownerId = before !== undefined && rootOf(before.contact_id) === contact ? before.contact_id : contact.id;
      if (verified !== undefined) {
        const { userId, attributes, ...values } = verified;
        setFields(contact, {
          ...withValues(contact, values, "company"),
          user_id: userId,
          attributes: attributes === undefined ? contact.attributes : JSON.stringify(attributes),
        });
      }
      link(session, ownerId, user !== undefined || addresses.length > 0);
      for (const key of user === undefined ? addresses : [user, ...addresses]) {
        const owner = contactOf(key);
        // An address that belongs to another user stays with that user.
        if (owner === undefined) link(key, key === user ? contact.id : ownerId, true);
        if (key !== user && (owner === undefined || owner === contact))
          setFields(contact, withValues(contact, { [key.kind]: key.value }, "platform"));
      }
      return { contact, ownerId };
    },
    isOfAnother(person) {
      const owner = contactOf(keysOf(person).session)?.user_id ?? null;
      return owner !== null && owner !== person.sender.verified?.userId;
    },
    isNew: (contactId) => added.has(contactId),
    setClaimed(contact, claimed) {
      setFields(contact, withValues(contact, claimed, "claim"));
    },
    async flush(tx2, addWork) {
      const fresh = [...added].map((id) => contacts.get(id)).filter((row) => row !== undefined);
      if (fresh.length > 0) await tx2.insertInto("contacts").values(fresh).execute();
      for (const id of changed) {
        const row = contacts.get(id);
        if (row === undefined || added.has(id)) continue;
        const { name, email, phone, user_id, attributes, provenance, updated_at } = row;
        await tx2
          .updateTable("contacts")
          .set({ name, email, phone, user_id, attributes, provenance, updated_at })
          .where("id", "=", id)
          .execute();
      }
      for (const merge of merges) {
        await storeMerge(tx2, merge, systemActor("identity"), now);
        for (const work of moveWork(merge.from.id, now)) addWork(work);
      }
      await saveIdentities(tx2, [...changedIdentities.values()]);
    },
  };

  function setFields(contact: ContactsTable, next: Partial<ContactsTable>): void {
    const names = Object.keys(next) as (keyof ContactsTable)[];
    if (names.every((name) => contact[name] === next[name])) return;
    Object.assign(contact, next, { updated_at: now });
    changed.add(contact.id);
  }

  function add(person: ContactKey): ContactsTable {
    const id = newId("con", now);
    const contact: ContactsTable = {
      id,
      workspace_id: person.workspaceId,
      name: person.sender.name ?? null,
      email: null,
      phone: null,
      user_id: null,
      attributes: "{}",
      provenance: null,
      merged_into: null,
      root_id: id,
      created_at: now,
      updated_at: now,
    };
    contacts.set(contact.id, contact);
    added.add(contact.id);
    return contact;
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

/** Whether the company or a platform has verified the contact. */
export const isVerified = (contact: ContactsTable): boolean =>
  contact.user_id !== null || verifiedFields(contact).length > 0;

/** Copies the contact's data to the conversation, for lists and filters. Returns true if anything changed. */
export function showContact(row: ConversationRow, { contact, ownerId }: KnownContact): boolean {
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
  return changed;
}

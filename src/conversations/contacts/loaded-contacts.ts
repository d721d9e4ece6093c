import type { Tx } from "#database/contract.ts";
import type { ContactsTable, IdentitiesTable } from "#database/schema/tables.ts";
import { contactKeys } from "#domain/customer/contact-keys.ts";
import { newId } from "#domain/ids.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { UnitOfWork } from "#conversations/transaction/draft.ts";
import type { SenderKeys, IdentityKey } from "./identities.ts";
import { loadIdentities, saveIdentities, textOf, undoneMerges } from "./identities.ts";
import type { Merge } from "./merge.ts";
import { chooseRoot, joinInMemory, moveWork, storeMerge } from "./merge.ts";

/** Contacts and identities in memory, with changes that `flush` writes. Merges are followed to the root contact. */
export interface LoadedContacts {
  contactOf(key: IdentityKey | undefined): ContactsTable | undefined;
  /** Returns the id of the contact that first had the identity. It may have been merged since. */
  ownerIdOf(key: IdentityKey): string | undefined;
  /** Whether a merge of the two was undone, so that they must not be merged again automatically. */
  wereSplit(one: ContactsTable, other: ContactsTable): boolean;
  isNew(contactId: string): boolean;
  add(workspaceId: string, name: string | null): ContactsTable;
  setFields(contact: ContactsTable, next: Partial<ContactsTable>): void;
  /** Changes what nobody is shown, so it is no event. */
  setPendingStart(contact: ContactsTable, payload: string | null): void;
  link(key: IdentityKey, contactId: string, verified: boolean): void;
  /** Merges the contacts and returns the root; undefined for an empty group. */
  merge(group: readonly ContactsTable[], reason: string): ContactsTable | undefined;
  flush(tx: Tx, changes: ContactChanges): Promise<void>;
}

/** Takes the work and the events that changed contacts cause. */
export type ContactChanges = Pick<UnitOfWork, "addWork" | "emitContact">;

/** The number of statements does not grow with the number of keys. */
export async function loadRows(tx: Tx, keys: readonly SenderKeys[], now: number): Promise<LoadedContacts> {
  const keysOf = ({ session, user, addresses }: SenderKeys): readonly IdentityKey[] =>
    user === undefined ? [session, ...addresses] : [session, user, ...addresses];
  const { identities, contacts } = await loadIdentities(tx, keys.flatMap(keysOf));
  const added = new Set<string>();
  const changed = new Set<string>();
  const withNewStart = new Set<string>();
  const changedIdentities = new Map<string, IdentitiesTable>();
  const merges: Merge[] = [];

  function contactOf(key: IdentityKey | undefined): ContactsTable | undefined {
    const contact = contacts.get((key === undefined ? undefined : identities.get(textOf(key))?.contact_id) ?? "");
    return contact === undefined ? undefined : (contacts.get(contact.root_id) ?? contact);
  }

  const canMerge = keys.some((each) => {
    const found = keysOf(each).flatMap((key) => contactOf(key)?.id ?? []);
    return new Set(found).size > 1;
  });
  const splitPairs = canMerge ? await undoneMerges(tx, [...contacts.keys()]) : new Set<string>();

  return {
    contactOf,
    ownerIdOf: (key) => identities.get(textOf(key))?.contact_id,
    wereSplit: (one, other) => splitPairs.has(`${one.id}\n${other.id}`),
    isNew: (contactId) => added.has(contactId),
    add(workspaceId, name) {
      const contact = newContact(workspaceId, name, now);
      contacts.set(contact.id, contact);
      added.add(contact.id);
      return contact;
    },
    setFields(contact, next) {
      const names = Object.keys(next) as (keyof ContactsTable)[];
      if (names.every((name) => contact[name] === next[name])) return;
      Object.assign(contact, next, { updated_at: now });
      changed.add(contact.id);
    },
    setPendingStart(contact, payload) {
      if (contact.pending_start === payload) return;
      contact.pending_start = payload;
      withNewStart.add(contact.id);
    },
    link(key, contactId, verified) {
      const before = identities.get(textOf(key));
      const isOwn = before?.contact_id === contactId;
      if (isOwn && before.verified >= Number(verified)) return;
      const row: IdentitiesTable = {
        ...key,
        contact_id: contactId,
        verified: verified || (isOwn && before.verified === 1) ? 1 : 0,
        created_at: before?.created_at ?? now,
      };
      identities.set(textOf(key), row);
      changedIdentities.set(textOf(key), row);
    },
    merge(group, reason) {
      const root = chooseRoot(group);
      for (const other of group) {
        if (root === undefined || other === root) continue;
        merges.push(joinInMemory(other, root, contacts.values(), reason, now));
        changed.add(root.id);
      }
      return root;
    },
    async flush(tx2, { addWork, emitContact }) {
      const rowsOf = (ids: Iterable<string>) => [...ids].flatMap((id) => contacts.get(id) ?? []);
      const inserted = rowsOf(added);
      if (inserted.length > 0) {
        const stored = inserted.map((row) => ({ ...row, ...contactKeys(row) }));
        await tx2.insertInto("contacts").values(stored).execute();
      }
      for (const row of rowsOf([...changed].filter((id) => !added.has(id)))) {
        await updateContact(tx2, row);
        emitContact(row, { type: "customer", id: row.id, name: row.name });
      }
      for (const row of rowsOf([...withNewStart].filter((id) => !added.has(id) && !changed.has(id))))
        await updateContact(tx2, row);
      for (const merge of merges) {
        await storeMerge(tx2, merge, systemActor("identity"), now);
        for (const work of moveWork(merge.from.id, now)) addWork(work);
      }
      await saveIdentities(tx2, [...changedIdentities.values()]);
    },
  };
}

function newContact(workspaceId: string, name: string | null, now: number): ContactsTable {
  const id = newId("con", now);
  return {
    id,
    workspace_id: workspaceId,
    name,
    email: null,
    phone: null,
    user_id: null,
    attributes: "{}",
    provenance: null,
    merged_into: null,
    root_id: id,
    pending_start: null,
    created_at: now,
    updated_at: now,
  };
}

async function updateContact(tx: Tx, row: ContactsTable): Promise<void> {
  const { id, name, email, phone, user_id, attributes, provenance, pending_start, updated_at } = row;
  await tx
    .updateTable("contacts")
    .set({ name, email, phone, user_id, attributes, provenance, pending_start, updated_at, ...contactKeys(row) })
    .where("id", "=", id)
    .execute();
}

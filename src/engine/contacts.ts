import type { Insertable } from "kysely";
import type { Sender } from "#channel/contract.ts";
import { newId } from "#domain/ids.ts";
import type { Channel } from "#domain/message.ts";
import type { ConversationRow } from "#store/conversations.ts";
import { emailKey } from "#store/conversations.ts";
import { dialectOf } from "#store/dialect.ts";
import type { ContactsTable, IdentitiesTable } from "#store/schema.ts";
import type { Tx } from "./ports.ts";

/** Who wrote: the platform's identity, and the company's own id where a signature proves it. */
export interface Person {
  readonly workspaceId: string;
  readonly channel: Channel;
  readonly sender: Sender;
}

export interface Contacts {
  /**
   * The contact of this person, made when there is none. Only a proven user id joins what is known of somebody on
   * several channels; what people say of themselves does not.
   */
  of(person: Person): ContactsTable;
  /** Says whether a contact was there before, so that it may have earlier conversations. */
  isNew(contactId: string): boolean;
  setClaimed(
    contact: ContactsTable,
    claimed: { readonly name?: string; readonly email?: string; readonly phone?: string },
  ): void;
  flush(tx: Tx): Promise<void>;
}

type Key = Pick<IdentitiesTable, "workspace_id" | "kind" | "value">;

const textOf = ({ workspace_id, kind, value }: Key): string => `${workspace_id}\n${kind}\n${value}`;

function keysOf({ workspaceId, channel, sender }: Person): { readonly session: Key; readonly user: Key | undefined } {
  return {
    session: { workspace_id: workspaceId, kind: channel, value: exact(sender.key) },
    user:
      sender.verified === undefined
        ? undefined
        : { workspace_id: workspaceId, kind: "user_id", value: exact(sender.verified.userId) },
  };
}

/**
 * MySQL takes texts that differ in spaces at the end for the same, and "ada " is another user than "ada": what ends in
 * a space is stored with a sign after it.
 */
function exact(value: string): string {
  return /[ \0]$/.test(value) ? `${value}\0` : value;
}

/** Loads what is known of these people in two statements. */
export async function loadContacts(tx: Tx, people: readonly Person[], now: number): Promise<Contacts> {
  const keys = new Map<string, Key>();
  for (const person of people) {
    const { session, user } = keysOf(person);
    keys.set(textOf(session), session);
    if (user !== undefined) keys.set(textOf(user), user);
  }
  const identities = new Map<string, IdentitiesTable>();
  const contacts = new Map<string, ContactsTable>();
  if (keys.size > 0) {
    const groups = [...Map.groupBy(keys.values(), ({ workspace_id, kind }) => `${workspace_id}\n${kind}`).values()];
    const rows = await tx
      .selectFrom("identities")
      .selectAll()
      .where((eb) =>
        eb.or(
          groups.map((group) =>
            eb.and([
              eb("workspace_id", "=", group[0]?.workspace_id ?? ""),
              eb("kind", "=", group[0]?.kind ?? ""),
              eb(
                "value",
                "in",
                group.map(({ value }) => value),
              ),
            ]),
          ),
        ),
      )
      .execute();
    for (const row of rows) identities.set(textOf(row), row);
    if (rows.length > 0) {
      const ids = [...new Set(rows.map(({ contact_id }) => contact_id))];
      for (const row of await tx.selectFrom("contacts").selectAll().where("id", "in", ids).execute())
        contacts.set(row.id, row);
    }
  }

  const added = new Set<string>();
  const changed = new Set<string>();
  const changedIdentities = new Map<string, Insertable<IdentitiesTable>>();

  function link(key: Key, contact: ContactsTable, verified: boolean): void {
    const known = identities.get(textOf(key));
    const flag = verified ? 1 : 0;
    if (known?.contact_id === contact.id && known.verified >= flag) return;
    const row: IdentitiesTable = {
      ...key,
      contact_id: contact.id,
      verified: flag,
      created_at: known?.created_at ?? now,
    };
    identities.set(textOf(key), row);
    changedIdentities.set(textOf(key), row);
  }

  function contactOf(key: Key | undefined): ContactsTable | undefined {
    const id = key === undefined ? undefined : identities.get(textOf(key))?.contact_id;
    return id === undefined ? undefined : contacts.get(id);
  }

  return {
    of(person) {
      const { session, user } = keysOf(person);
      const { sender } = person;
      const bySession = contactOf(session);
      // A visitor who signs in becomes the known user; a session of one user never becomes another's contact.
      const reusable = user === undefined || bySession?.user_id === null ? bySession : undefined;
      const contact = contactOf(user) ?? reusable ?? add(person);
      if (sender.verified !== undefined) {
        const { userId, name, email } = sender.verified;
        const next = { user_id: userId, name: name ?? contact.name, email: email ?? contact.email };
        if (contact.user_id !== next.user_id || contact.name !== next.name || contact.email !== next.email) {
          Object.assign(contact, next, { updated_at: now });
          changed.add(contact.id);
        }
      }
      link(session, contact, user !== undefined);
      if (user !== undefined) link(user, contact, true);
      return contact;
    },
    isNew: (contactId) => added.has(contactId),
    setClaimed(contact, claimed) {
      // What a signature has proven is not overwritten by what somebody types.
      const proven = contact.user_id !== null;
      const next = {
        name: proven ? (contact.name ?? claimed.name ?? null) : (claimed.name ?? contact.name),
        email: proven ? (contact.email ?? claimed.email ?? null) : (claimed.email ?? contact.email),
        phone: proven ? (contact.phone ?? claimed.phone ?? null) : (claimed.phone ?? contact.phone),
      };
      Object.assign(contact, next, { updated_at: now });
      changed.add(contact.id);
    },
    async flush(tx2) {
      const fresh = [...added].map((id) => contacts.get(id)).filter((row) => row !== undefined);
      if (fresh.length > 0) await tx2.insertInto("contacts").values(fresh).execute();
      for (const id of changed) {
        const row = contacts.get(id);
        if (row === undefined || added.has(id)) continue;
        const { name, email, phone, user_id, updated_at } = row;
        await tx2
          .updateTable("contacts")
          .set({ name, email, phone, user_id, updated_at })
          .where("id", "=", id)
          .execute();
      }
      const rows = [...changedIdentities.values()];
      if (rows.length === 0) return;
      const insert = tx2.insertInto("identities").values(rows);
      if (dialectOf(tx2) === "mysql") {
        await insert
          .onDuplicateKeyUpdate((eb) => ({
            contact_id: eb.fn("values", [eb.ref("contact_id")]),
            verified: eb.fn("values", [eb.ref("verified")]),
          }))
          .execute();
      } else {
        await insert
          .onConflict((conflict) =>
            conflict.columns(["workspace_id", "kind", "value"]).doUpdateSet((eb) => ({
              contact_id: eb.ref("excluded.contact_id"),
              verified: eb.ref("excluded.verified"),
            })),
          )
          .execute();
      }
    },
  };

  function add(person: Person): ContactsTable {
    const contact: ContactsTable = {
      id: newId("con", now),
      workspace_id: person.workspaceId,
      name: person.sender.name ?? null,
      email: null,
      phone: null,
      user_id: null,
      attributes: "{}",
      created_at: now,
      updated_at: now,
    };
    contacts.set(contact.id, contact);
    added.add(contact.id);
    return contact;
  }
}

/** Copies what is known of the contact to where lists show and filter it. True when something changed. */
export function showContact(row: ConversationRow, contact: ContactsTable): boolean {
  const next = {
    contact_id: contact.id,
    customer_name: contact.name,
    customer_email: contact.email,
    customer_email_key: contact.email === null ? null : emailKey(contact.email),
    customer_phone: contact.phone,
    customer_verified: contact.user_id === null ? (0 as const) : (1 as const),
  };
  const changed = (Object.keys(next) as (keyof typeof next)[]).some((key) => row[key] !== next[key]);
  Object.assign(row, next);
  return changed;
}

import { contactEmailKey, phoneKey } from "#domain/customer/contact-keys.ts";
import type { Reader } from "#database/contract.ts";
import { chunks, contactColumns, mergedWith } from "#database/queries/customers.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import { identityValue } from "./identities.ts";

/** Customers of a workspace. A merged contact is found as the contact that represents it. */
export interface ContactFilter {
  readonly workspaceId: string;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  /** The company's own id of the customer. */
  readonly userId?: string | undefined;
  /** Only customers that changed after this time, in epoch milliseconds. */
  readonly updatedSince?: number | undefined;
}

export interface ContactPosition {
  readonly id: string;
  /** When it was changed last. */
  readonly at: number;
}

export interface ContactPage {
  readonly rows: readonly ContactsTable[];
  readonly hasMore: boolean;
  /** The end of the page; undefined: it found nothing. */
  readonly last: ContactPosition | undefined;
}

/**
 * A page of customers, newest first; with `updatedSince` alone those that changed longest ago first, so that a customer
 * who changes meanwhile comes again instead of being missed. Several filters can leave a page with fewer rows.
 */
export async function contactPage(
  db: Reader,
  filter: ContactFilter,
  after: ContactPosition | undefined,
  limit: number,
): Promise<ContactPage> {
  const { workspaceId, updatedSince } = filter;
  const [first, ...others] = keysOf(filter);
  if (first === undefined) return pageOf(await listed(db, filter, after, limit + 1), limit);
  const found = await rootsOf(db, workspaceId, await rootsByKey(db, workspaceId, first, after?.id, limit + 1));
  const page = pageOf(found, limit);
  let { rows } = page;
  for (const key of others) {
    const ids = rows.map(({ id }) => id);
    const matching = await rootsByKey(db, workspaceId, key, undefined, limit, ids);
    rows = rows.filter(({ id }) => matching.includes(id));
  }
  return { ...page, rows: rows.filter((row) => updatedSince === undefined || row.updated_at > updatedSince) };
}

function pageOf(found: readonly ContactsTable[], limit: number): ContactPage {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows,
    hasMore: found.length > limit,
    last: last === undefined ? undefined : { id: last.id, at: last.updated_at },
  };
}

interface LookupKey {
  /** The kind of the identity that proves it. */
  readonly kind: "user_id" | "email" | "phone";
  /** The value in contacts, verified or not. A user id has to be proven. */
  readonly column?: "email_key" | "phone_key";
  readonly value: string;
}

/** The filter with the fewest matches first. */
const keysOf = ({ userId, email, phone }: ContactFilter): readonly LookupKey[] => [
  ...(userId === undefined ? [] : [{ kind: "user_id", value: identityValue(userId) } as const]),
  ...(email === undefined ? [] : [{ kind: "email", column: "email_key", value: contactEmailKey(email) } as const]),
  ...(phone === undefined ? [] : [{ kind: "phone", column: "phone_key", value: phoneKey(phone) } as const]),
];

/** All customers, or those that changed. */
async function listed(
  db: Reader,
  { workspaceId, updatedSince }: ContactFilter,
  after: ContactPosition | undefined,
  limit: number,
): Promise<readonly ContactsTable[]> {
  let query = db
    .selectFrom("contacts")
    .select(contactColumns)
    .where("workspace_id", "=", workspaceId)
    .where("merged_into", "is", null)
    .limit(limit);
  if (updatedSince === undefined) {
    if (after !== undefined) query = query.where("id", "<", after.id);
    return query.orderBy("id", "desc").execute();
  }
  if (after === undefined) {
    query = query.where("updated_at", ">", updatedSince);
  } else {
    const { at, id } = after;
    query = query.where("updated_at", ">=", at).where((eb) => eb.or([eb("updated_at", ">", at), eb("id", ">", id)]));
  }
  return query.orderBy("updated_at").orderBy("id").execute();
}

/** Customers with this address, number or user id, newest first. `among`: only these. */
async function rootsByKey(
  db: Reader,
  workspaceId: string,
  { kind, column, value }: LookupKey,
  before: string | undefined,
  limit: number,
  among?: readonly string[],
): Promise<readonly string[]> {
  if (among?.length === 0) return [];
  const ids = new Set(await identityRoots(db, workspaceId, kind, value));
  if (column !== undefined) {
    let query = db
      .selectFrom("contacts")
      .select("root_id")
      .distinct()
      .where("workspace_id", "=", workspaceId)
      .where(column, "=", value);
    if (before !== undefined) query = query.where("root_id", "<", before);
    if (among !== undefined) query = query.where("root_id", "in", among);
    const rows = await query.orderBy("root_id", "desc").limit(limit).execute();
    for (const { root_id: id } of rows) ids.add(id);
  }
  const wanted = [...ids].filter((id) => before === undefined || id < before);
  return wanted.toSorted().toReversed().slice(0, limit);
}

async function identityRoots(db: Reader, workspaceId: string, kind: string, value: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("identities")
    .innerJoin("contacts", "contacts.id", "identities.contact_id")
    .select("contacts.root_id")
    .where("identities.workspace_id", "=", workspaceId)
    .where("identities.kind", "=", kind)
    .where("identities.value", "=", value)
    .execute();
  return rows.map(({ root_id }) => root_id);
}

async function rootsOf(db: Reader, workspaceId: string, ids: readonly string[]): Promise<readonly ContactsTable[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom("contacts")
    .select(contactColumns)
    .where("workspace_id", "=", workspaceId)
    .where("id", "in", ids)
    .orderBy("id", "desc")
    .execute();
}

/** A customer with all that identifies them. */
export interface CustomerDetails {
  /** The contact that represents the customer. */
  readonly root: ContactsTable;
  /** Contacts that were merged into it. */
  readonly merged: readonly ContactsTable[];
  readonly identities: readonly {
    readonly kind: string;
    readonly value: string;
    readonly verified: boolean;
    readonly createdAt: number;
  }[];
  readonly conversations: number;
}

const identitiesMax = 500;

/** Undefined: the workspace has no such contact. */
export async function customerDetails(
  db: Reader,
  workspaceId: string,
  id: string,
): Promise<CustomerDetails | undefined> {
  const contacts = await mergedWith(db, workspaceId, [id]);
  const root = contacts.find((contact) => contact.id === contact.root_id);
  if (root === undefined) return undefined;
  const ids = contacts.map((contact) => contact.id);
  const identities = await db
    .selectFrom("identities")
    .select(["kind", "value", "verified", "created_at"])
    .where("contact_id", "in", ids.slice(0, identitiesMax))
    .orderBy("created_at")
    .limit(identitiesMax)
    .execute();
  let conversations = 0;
  for (const some of chunks(ids)) {
    const { count } = await db
      .selectFrom("conversations")
      .select((eb) => eb.fn.countAll<number | string>().as("count"))
      .where("contact_id", "in", some)
      .executeTakeFirstOrThrow();
    conversations += Number(count);
  }
  return {
    root,
    merged: contacts.filter((contact) => contact !== root),
    identities: identities.map(({ kind, value, verified, created_at: createdAt }) => ({
      kind,
      value: shownIdentity(value),
      verified: verified === 1,
      createdAt,
    })),
    conversations,
  };
}

/** The value without the NUL that `identityValue` appends. */
const shownIdentity = (value: string): string => value.replace(/\0$/, "");

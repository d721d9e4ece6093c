import { parseWorkspaceId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { Reader, Store } from "#database/contract.ts";
import { customerByEmail, mergedWith } from "#database/queries/customers.ts";
import type { AuditTable, ContactsTable } from "#database/schema/tables.ts";

const iso = (at: number): string => new Date(at).toISOString();

/** The customer of a contact or an address: all contacts that are one, what they are known by, and their conversations. */
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

export interface AuditRequest {
  readonly workspaceId: string;
  readonly conversationId: string | undefined;
  /** Epoch milliseconds. */
  readonly since: number | undefined;
  readonly limit: number;
}

/** The newest entries, oldest of them first; also of conversations and workspaces that were deleted. */
export async function readAudit(store: Store, { workspaceId, conversationId, since, limit }: AuditRequest) {
  const id = parseWorkspaceId(workspaceId);
  if (id === undefined) {
    throw new Problem("invalid_workspace_id", `"${workspaceId}" is not a workspace id: wt_<6 characters>_<characters>`);
  }
  const known = await store.read.selectFrom("workspaces").select("id").where("id", "=", id).executeTakeFirst();
  if (known === undefined) throw new Problem("workspace_not_found", `there is no workspace ${id}`);
  let query = store.read.selectFrom("audit").selectAll().where("workspace_id", "=", id);
  if (conversationId !== undefined) query = query.where("conversation_id", "=", conversationId);
  if (since !== undefined) query = query.where("created_at", ">=", since);
  const rows = await query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  return { entries: rows.slice(0, limit).toReversed().map(entryOf), more: rows.length > limit };
}

function entryOf(row: AuditTable) {
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    action: row.action,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    from: row.from_value,
    to: row.to_value,
    detail: row.detail,
    created_at: iso(row.created_at),
  };
}

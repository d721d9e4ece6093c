import { contactKeys } from "#domain/customer/contact-keys.ts";
import { newId } from "#domain/ids.ts";
import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { Actor, AuditAction } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import { moveLane } from "#queue/lanes.ts";
import { emitContactEvents } from "#conversations/transaction/effects/events.ts";
import type { Tx } from "#database/contract.ts";
import type { ContactField } from "#domain/customer/provenance.ts";
import { contactFields, provenanceOf, storedProvenance, withValues } from "#domain/customer/provenance.ts";

type Filled = Partial<Record<ContactField, string>>;

/** A merge of two contacts. `into` becomes the root of both. */
export interface Merge {
  readonly from: ContactsTable;
  readonly into: ContactsTable;
  readonly reason: string;
  /** Values that `into` lacked and takes over. */
  readonly filled: Filled;
}

/** A second pass finds conversations of processes that read the contact just before its merge. */
const secondLookMs = 30_000;

/** The move of a contact's conversations to its root contact. */
export const moveKind = workKind(
  "relink",
  Type.Object({
    contactId: Type.String(),
    /** Position of the last page: its last conversation. */
    after: Type.Optional(Type.Object({ startedAt: Type.Number(), id: Type.String() })),
    /** The last conversation that stayed. Only earlier versions read it. */
    previous: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  { unordered: true },
);

export function moveWork(contactId: string, now: number): readonly NewWork[] {
  return [now, now + secondLookMs].map((dueAt) => moveKind.queued(moveLane(contactId), { contactId }, dueAt));
}

/** Chooses the root: the known user, otherwise the oldest contact. Undefined for an empty group. */
export function chooseRoot(group: readonly ContactsTable[]): ContactsTable | undefined {
  const oldest = group.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
  return oldest.find((contact) => contact.user_id !== null) ?? oldest[0];
}

/** Merges rows in memory. `all`: the loaded contacts. */
export function joinInMemory(
  from: ContactsTable,
  into: ContactsTable,
  all: Iterable<ContactsTable>,
  reason: string,
  now: number,
): Merge {
  const filled: Filled = {};
  for (const field of contactFields) {
    const value = from[field];
    if (into[field] !== null || value === null) continue;
    filled[field] = value;
    Object.assign(into, withValues(into, { [field]: value }, provenanceOf(from)[field] ?? "claim"));
  }
  into.updated_at = now;
  for (const contact of all) if (contact.root_id === from.id) contact.root_id = into.id;
  from.merged_into = into.id;
  from.root_id = into.id;
  return { from, into, reason, filled };
}

/** Stores a merge without the contacts' own fields. */
export async function storeMerge(
  tx: Tx,
  { from, into, reason, filled }: Merge,
  actor: Actor,
  now: number,
): Promise<void> {
  await tx.updateTable("contacts").set({ root_id: into.id }).where("root_id", "=", from.id).execute();
  await tx.updateTable("contacts").set({ merged_into: into.id }).where("id", "=", from.id).execute();
  await tx
    .insertInto("contact_merges")
    .values({
      id: newId("mrg", now),
      workspace_id: from.workspace_id,
      from_contact_id: from.id,
      into_contact_id: into.id,
      reason,
      filled: JSON.stringify(filled),
      actor_type: actor.type,
      actor_id: actor.id,
      created_at: now,
      undone_at: null,
    })
    .execute();
  await audit(tx, "contact_merged", from.workspace_id, { from: from.id, to: into.id, detail: reason }, actor, now);
}

async function audit(
  tx: Tx,
  action: AuditAction,
  workspaceId: string,
  change: { readonly from: string; readonly to: string; readonly detail: string | null },
  actor: Actor,
  now: number,
): Promise<void> {
  await tx
    .insertInto("audit")
    .values({
      id: newId("aud", now),
      workspace_id: workspaceId,
      conversation_id: null,
      action,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      from_value: change.from,
      to_value: change.to,
      detail: change.detail,
      created_at: now,
    })
    .execute();
}

async function lockContact(tx: Tx, workspaceId: string, id: string): Promise<ContactsTable> {
  const query = tx.selectFrom("contacts").selectAll().where("id", "=", id).where("workspace_id", "=", workspaceId);
  const row = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).executeTakeFirst();
  if (row === undefined) throw new Problem("not_found", `there is no contact ${id} in this workspace`);
  return row;
}

/**
 * Merges two contacts on request. The second becomes the root, unless only the first is a known user. Throws
 * `invalid_transition` for two known users.
 */
export async function mergeContacts(
  tx: Tx,
  workspaceId: string,
  fromId: string,
  intoId: string,
  actor: Actor,
  now: number,
): Promise<{ readonly from: string; readonly into: string }> {
  // Locks in the order of ids, to avoid a deadlock.
  const locked = new Map<string, ContactsTable>();
  for (const id of [fromId, intoId].toSorted()) locked.set(id, await lockContact(tx, workspaceId, id));
  const roots: ContactsTable[] = [];
  for (const id of [fromId, intoId]) {
    const root = locked.get(id)?.root_id ?? id;
    roots.push(locked.get(root) ?? (await lockContact(tx, workspaceId, root)));
  }
  const [first, second] = roots;
  if (first === undefined || second === undefined || first.id === second.id) {
    throw new Problem("invalid_parameter", `${fromId} and ${intoId} are one customer already`);
  }
  if (first.user_id !== null && second.user_id !== null && first.user_id !== second.user_id) {
    throw new Problem("invalid_transition", "both are signed-in users with a user id of their own: two people");
  }
  const [from, into] = first.user_id !== null && second.user_id === null ? [second, first] : [first, second];
  const merge = joinInMemory(from, into, [], "operator", now);
  const { name, email, phone, provenance, updated_at } = into;
  await tx
    .updateTable("contacts")
    .set({ name, email, phone, provenance, updated_at, ...contactKeys(into) })
    .where("id", "=", into.id)
    .execute();
  await storeMerge(tx, merge, actor, now);
  await emitContactEvents(tx, [into], actor, now);
  await insertWork(tx, moveWork(from.id, now), now);
  return { from: from.id, into: into.id };
}

/** Undoes a merge: both contacts get their own conversations, addresses and names back. */
export async function unmergeContact(
  tx: Tx,
  workspaceId: string,
  contactId: string,
  actor: Actor,
  now: number,
): Promise<{ readonly contact: string; readonly from: string }> {
  const contact = await lockContact(tx, workspaceId, contactId);
  const { merged_into: parentId, root_id: rootId } = contact;
  if (parentId === null) throw new Problem("invalid_transition", `${contactId} is not merged into another contact`);
  const members = await tx.selectFrom("contacts").select(["id", "merged_into"]).where("root_id", "=", rootId).execute();
  const own = new Set([contactId]);
  // Contacts that were merged into it earlier go with it.
  for (let size = 0; size !== own.size;) {
    size = own.size;
    for (const { id, merged_into } of members) if (merged_into !== null && own.has(merged_into)) own.add(id);
  }
  await giveBack(tx, workspaceId, contactId, parentId, now);
  await tx
    .updateTable("contacts")
    .set({ root_id: contactId })
    .where("id", "in", [...own])
    .execute();
  await tx.updateTable("contacts").set({ merged_into: null }).where("id", "=", contactId).execute();
  await tx
    .updateTable("contact_merges")
    .set({ undone_at: now })
    .where("from_contact_id", "=", contactId)
    .where("undone_at", "is", null)
    .execute();
  await audit(tx, "contact_unmerged", workspaceId, { from: rootId, to: contactId, detail: null }, actor, now);
  const both = [contactId, rootId];
  await tx.updateTable("contacts").set({ updated_at: now }).where("id", "in", both).execute();
  const separated = await tx.selectFrom("contacts").selectAll().where("id", "in", both).execute();
  await emitContactEvents(tx, separated, actor, now);
  await insertWork(tx, moveWork(rootId, now), now);
  return { contact: contactId, from: rootId };
}

/** Removes values that the merge filled in, if unchanged, also from later merges that took them over. */
async function giveBack(tx: Tx, workspaceId: string, fromId: string, intoId: string, now: number): Promise<void> {
  let taken: Filled | undefined;
  let from = fromId;
  let next: string | null = intoId;
  while (next !== null) {
    const into: string = next;
    const record = await tx
      .selectFrom("contact_merges")
      .select("filled")
      .where("from_contact_id", "=", from)
      .where("into_contact_id", "=", into)
      .where("undone_at", "is", null)
      .orderBy("id", "desc")
      .executeTakeFirst();
    const filled = JSON.parse(record?.filled ?? "{}") as Filled;
    const first = (taken ??= filled);
    const row = await lockContact(tx, workspaceId, into);
    const back = contactFields.filter(
      (field) => filled[field] !== undefined && filled[field] === first[field] && row[field] === filled[field],
    );
    if (back.length === 0) return;
    const none = Object.fromEntries(back.map((field) => [field, null]));
    const kept = Object.entries(provenanceOf(row)).filter(([field]) => !Object.hasOwn(none, field));
    const provenance = storedProvenance(Object.fromEntries(kept));
    await tx
      .updateTable("contacts")
      .set({ ...none, provenance, updated_at: now, ...contactKeys({ ...row, ...none }) })
      .where("id", "=", into)
      .execute();
    from = into;
    next = row.merged_into;
  }
}

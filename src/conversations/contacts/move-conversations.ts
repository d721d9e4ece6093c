import { storedSettings } from "#domain/workspace/settings.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { moveKind } from "./merge.ts";
import type { Clock } from "#runtime/clock.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import { moveLane } from "#queue/lanes.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { showContact } from "./contacts.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Store, Tx } from "#database/contract.ts";

/** Conversations per transaction. */
const step = 50;
const actor = systemActor("contacts");

type MoveConversations = PayloadOf<typeof moveKind>;

export function declareConversationMove({
  store,
  clock,
  search,
  publishEffects,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly publishEffects: PublishEffects;
}): WorkDeclaration {
  return declareWork(moveKind, {
    batch: true,
    attemptsMax: 20,
    lanesMax: 2,
    async run(rows) {
      publishEffects(await store.write((tx) => moveConversations(tx, search, rows, clock.now())));
    },
  });
}

function byPage({ after: left }: MoveConversations, { after: right }: MoveConversations): number {
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  return left.startedAt - right.startedAt || (left.id < right.id ? -1 : 1);
}

/**
 * Moves a contact's conversations after a merge or its undo. Conversations that stay get the contact's current data and
 * the link to the previous one. One page per transaction; each queues the next.
 */
export async function moveConversations(
  tx: Tx,
  search: ConversationSearch,
  rows: readonly Work<MoveConversations>[],
  now: number,
): Promise<Effects | null> {
  await finishWork(tx, rows);
  // One pass serves all queued rows, from the earliest page that one of them asks for.
  const [work] = rows.map((row) => row.payload).toSorted(byPage);
  if (work === undefined) return null;
  const { contactId, after } = work;
  const contact = await tx.selectFrom("contacts").selectAll().where("id", "=", contactId).executeTakeFirst();
  if (contact === undefined) return null;
  const { settings: stored } = await tx
    .selectFrom("workspaces")
    .select("settings")
    .where("id", "=", contact.workspace_id)
    .executeTakeFirstOrThrow();
  const settings = storedSettings(stored);

  let query = tx.selectFrom("conversations").selectAll().where("contact_id", "=", contactId);
  if (after !== undefined) {
    query = query
      .where("started_at", ">=", after.startedAt)
      .where((eb) =>
        eb.or([
          eb("started_at", ">", after.startedAt),
          eb.and([eb("started_at", "=", after.startedAt), eb("id", ">", after.id)]),
        ]),
      );
  }
  query = query.orderBy("started_at").orderBy("id").limit(step);
  const conversations = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).execute();
  const contacts = await ownersOf(tx, [contactId, ...conversations.map((row) => row.own_contact_id ?? row.contact_id)]);

  const changes = createUnitOfWork(now, search);
  const others = new Set<string>();
  let previous = after === undefined ? null : await lastBefore(tx, contactId, after);
  for (const row of conversations) {
    const draft = changes.track(row, settings, false);
    const ownerId = row.own_contact_id ?? contactId;
    // If the owner no longer exists, the conversation stays with its contact.
    const rootId = contacts.get(ownerId)?.root_id ?? contact.root_id;
    const root = contacts.get(rootId) ?? contact;
    if (root.id === contactId) {
      if (row.previous_conversation_id !== previous) {
        draft.row.previous_conversation_id = previous;
        draft.touch();
      }
      previous = row.id;
    } else others.add(root.id);
    if (showContact(draft, { contact: root, ownerId }, actor)) draft.touch();
  }
  const last = conversations.at(-1);
  if (last !== undefined && conversations.length === step) {
    const next: MoveConversations = { contactId, after: { startedAt: last.started_at, id: last.id }, previous };
    changes.addWork(moveKind.queued(moveLane(contactId), next, now));
  }
  for (const id of others) changes.addWork(moveKind.queued(moveLane(id), { contactId: id }, now));
  return changes.flush(tx);
}

/**
 * The contact's last conversation up to this position. The one that the work names may have moved since, where the work is
 * done late.
 */
async function lastBefore(
  tx: Tx,
  contactId: string,
  { startedAt, id }: NonNullable<MoveConversations["after"]>,
): Promise<string | null> {
  const last = await tx
    .selectFrom("conversations")
    .select("id")
    .where("contact_id", "=", contactId)
    .where("started_at", "<=", startedAt)
    .where((eb) => eb.or([eb("started_at", "<", startedAt), eb("id", "<=", id)]))
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.id ?? null;
}

/** Loads these contacts and their root contacts. */
async function ownersOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, ContactsTable>> {
  const found = new Map<string, ContactsTable>();
  const load = async (requested: readonly string[]): Promise<void> => {
    const missing = [...new Set(requested)].filter((id) => !found.has(id));
    if (missing.length === 0) return;
    for (const row of await tx.selectFrom("contacts").selectAll().where("id", "in", missing).execute())
      found.set(row.id, row);
  };
  await load(ids);
  await load([...found.values()].map(({ root_id }) => root_id));
  return found;
}

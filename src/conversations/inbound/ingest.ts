import type { Tx } from "#database/contract.ts";
import { turnKind } from "#conversations/answering/turn-kind.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { InboundEventsTable } from "#database/schema/tables.ts";
import { isChat } from "#channels/catalog.ts";
import { turnLane } from "#queue/lanes.ts";
import { namesGoneFile } from "#conversations/attachments/attachments.ts";
import type { Contacts } from "#conversations/contacts/contacts.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { BatchDependencies, IngestBatch } from "./batch.ts";
import { senderOf, isFromCustomer, loadBatch } from "./batch.ts";
import { linkMessageRefs } from "./email-threads.ts";
import { handlers } from "./events/handlers.ts";
import type { EventKind, EventOf } from "#channels/inbound-event.ts";
import type { IncomingEvent, IngestResult } from "#conversations/transaction/incoming-event.ts";
import { keyOf, knownEvents, noResult, requireContinued } from "./incoming-event.ts";
import { inboundRow } from "./inbound-row.ts";
import { contextOf } from "./locking.ts";
import { rescheduleTurns } from "./unfinished-messages.ts";

interface IngestBatchResult {
  readonly results: readonly IngestResult[];
  readonly effects: Effects;
}

/**
 * Stores events in the given order, with the work they cause. The number of statements does not grow with the number of
 * events. Fails as a whole; the caller must then retry each event alone.
 */
export async function ingest(
  tx: Tx,
  dependencies: BatchDependencies,
  incoming: readonly IncomingEvent[],
): Promise<IngestBatchResult> {
  const known = await knownEvents(tx, incoming);
  const fresh = incoming.filter((each) => !known.has(keyOf(each)));
  const batch = await loadBatch(tx, dependencies, fresh);
  const rows: Omit<InboundEventsTable, "id">[] = [];
  const results: IngestResult[] = [];
  for (const each of incoming) {
    const before = known.get(keyOf(each));
    const refusal = before === undefined ? refusalOf(batch, each) : { ...before, duplicate: true };
    if (refusal !== undefined) {
      results.push(refusal);
      continue;
    }
    const result = await handle(batch, each.event.kind, each);
    known.set(keyOf(each), result);
    results.push(result);
    rows.push(inboundRow(each, result, batch.joining.has(each.event), batch.now));
  }
  await linkPreviousConversations(tx, batch.started, batch.contacts);
  await batch.contacts.flush(tx, batch.changes);
  const effects = await batch.changes.flush(tx);
  await rescheduleTurns(tx, batch.rescheduled);
  await linkMessageRefs(tx, incoming, results);
  await insertRows(tx, "inbound_events", rows);
  await batch.edits.flush(tx);
  return { results: await withWork(tx, results, incoming), effects };
}

function refusalOf(batch: IngestBatch, incoming: IncomingEvent): IngestResult | undefined {
  if (isOfAnother(batch, incoming)) return { ...noResult, refused: true };
  if (namesGoneFile(incoming.event, incoming.account, batch.uploads)) return { ...noResult, filesGone: true };
  return undefined;
}

/** After a sign-in the browser's session belongs to the user. Sockets opened before that are refused. */
function isOfAnother({ conversations, users, contacts }: IngestBatch, incoming: IncomingEvent): boolean {
  if (!isChat(incoming.account.channel) || !isFromCustomer(incoming)) return false;
  const { account, event } = incoming;
  const row = conversations.get(contextOf(account.id, event.thread));
  // Two processes may have created a contact at once: the session's contact can then differ from the thread's.
  const user = users.get(row?.contact_id ?? "");
  if (user !== undefined && user !== event.sender.verified?.userId) return true;
  return contacts.isOfAnother(senderOf(incoming));
}

function handle<K extends EventKind>(
  batch: IngestBatch,
  kind: K,
  incoming: IncomingEvent<EventOf<K>>,
): IngestResult | Promise<IngestResult> {
  const row = conversationOf(batch, incoming);
  requireContinued(incoming, row);
  return handlers[kind](batch, incoming, row);
}

function conversationOf({ conversations }: IngestBatch, { account, event }: IncomingEvent) {
  return event.kind === "delivery" ? undefined : conversations.get(contextOf(account.id, event.thread));
}

/** Links each new conversation to the customer's previous one. */
async function linkPreviousConversations(tx: Tx, drafts: readonly Draft[], contacts: Contacts): Promise<void> {
  // Conversations of this batch are not inserted yet.
  const begun = new Map<string, string>();
  for (const { row } of drafts) {
    const before = begun.get(row.contact_id);
    begun.set(row.contact_id, row.id);
    if (before !== undefined) row.previous_conversation_id = before;
    if (before !== undefined || contacts.isNew(row.contact_id)) continue;
    const previous = await tx
      .selectFrom("conversations")
      .select("id")
      .where("contact_id", "=", row.contact_id)
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    row.previous_conversation_id = previous?.id ?? null;
  }
}

/** Reads back the work rows that the caller runs itself. */
async function withWork(
  tx: Tx,
  results: readonly IngestResult[],
  incoming: readonly IncomingEvent[],
): Promise<readonly IngestResult[]> {
  const own = incoming.some(({ lease }) => lease !== undefined);
  if (!own) return results;
  return Promise.all(
    results.map(async (result, i) => {
      const lease = incoming[i]?.lease;
      if (lease === undefined || result.conversationId === null || result.duplicate) return result;
      const rows = await tx
        .selectFrom("outbox")
        .selectAll()
        .where("lane", "=", turnLane(result.conversationId))
        .where("lease_id", "=", lease.id)
        .orderBy("id", "desc")
        .execute();
      const work = rows.find((row) => turnKind.read(row).payload.seq === result.seq);
      return { ...result, work: work ?? null };
    }),
  );
}

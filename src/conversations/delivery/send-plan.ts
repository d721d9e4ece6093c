import type { Insertable } from "kysely";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import type { ConversationLinksTable, DeliveriesTable, MessagesTable } from "#database/schema/tables.ts";
import { followLane, sendLane } from "#queue/lanes.ts";
import type { NewMessage } from "#conversations/transaction/new-message.ts";
import { rerouteWork } from "./reroute-work.ts";

interface Sending {
  readonly deliveries: readonly Insertable<DeliveriesTable>[];
  readonly links: readonly ConversationLinksTable[];
  readonly works: readonly NewWork[];
}

/** How the parts of a message get to the customer, and what is to be done with those that cannot by this channel. */
export function sendingOf(
  row: ConversationRow,
  message: MessagesTable,
  parts: NonNullable<NewMessage["parts"]>,
  now: number,
): Sending {
  const deliveries: Insertable<DeliveriesTable>[] = [];
  const links: ConversationLinksTable[] = [];
  const works: NewWork[] = [];
  const reason = parts.find((part) => part.closed !== undefined)?.closed;
  if (reason !== undefined) works.push(rerouteWork({ conversationId: row.id, messageId: message.id, reason }, now));
  for (const [part, { payload, elsewhere, closed }] of parts.entries()) {
    const id = `${message.id}.${part}`;
    // The thread of a conversation elsewhere is called by the conversation's id.
    if (elsewhere !== undefined) {
      links.push({ account_id: elsewhere.accountId, kind: "thread", name: row.id, conversation_id: row.id });
    }
    deliveries.push({
      id,
      account_id: elsewhere?.accountId ?? row.account_id,
      thread: elsewhere === undefined ? null : row.id,
      unless_seen: elsewhere === undefined || elsewhere.afterMs === 0 ? null : `${message.id}.0`,
      conversation_id: row.id,
      message_id: message.id,
      part,
      payload,
      state: closed === undefined ? "queued" : "failed",
      external_id: null,
      attempts: 0,
      error: closed ?? null,
      started_at: null,
      settled_at: closed === undefined ? null : now,
    });
    if (closed !== undefined) continue;
    works.push({
      lane: elsewhere === undefined ? sendLane(row.id) : followLane(row.id),
      kind: "send",
      payload: { deliveryId: id },
      dueAt: now + (elsewhere?.afterMs ?? 0),
    });
  }
  return { deliveries, links, works };
}

import type { Insertable } from "kysely";
import { Type } from "typebox";
import type { PayloadOf, Work } from "#database/work.ts";
import { workKind } from "#database/work.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import type { ConversationLinksTable, DeliveriesTable, MessagesTable } from "#database/schema/tables.ts";
import { followLane, sendLane } from "#queue/lanes.ts";
import type { NewMessage } from "#conversations/transaction/new-message.ts";
import { rerouteWork } from "#conversations/work/reroute-work.ts";

/** The sending of one part. */
export const sendKind = workKind("send", Type.Object({ deliveryId: Type.String() }));

export type SendWork = Work<PayloadOf<typeof sendKind>>;

interface Sending {
  readonly deliveries: readonly Insertable<DeliveriesTable>[];
  readonly links: readonly ConversationLinksTable[];
  readonly works: readonly NewWork[];
}

/** Plans how a message reaches the customer, and the handling of a message that its channel refuses. */
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
    // On another account, the conversation's id is the thread.
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
    const lane = elsewhere === undefined ? sendLane(row.id) : followLane(row.id);
    works.push(sendKind.queued(lane, { deliveryId: id }, now + (elsewhere?.afterMs ?? 0)));
  }
  return { deliveries, links, works };
}

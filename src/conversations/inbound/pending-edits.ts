import { prepareStatement } from "#database/dialects/prepared.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { TextChange } from "#channels/inbound-event.ts";
import type { IncomingEvent } from "#conversations/transaction/incoming-event.ts";
import type { Tx } from "#database/contract.ts";

type MessageId = Pick<MessagesTable, "id" | "conversation_id">;

/** Edits and deletions that arrived before their message, and the time of each message's newest edit. */
export interface Edits {
  /** Returns the edit or deletion to apply when the message arrives. */
  pending(target: string): TextChange | undefined;
  /** Keeps the newest edit until its message arrives. A deletion always wins over edits. */
  add(target: string, event: TextChange): void;
  /**
   * Returns whether no newer edit of the message is known, and records this one as the newest. Platforms redeliver
   * unacknowledged events, so an old edit can arrive after a newer one.
   */
  isNewest(target: string, event: TextChange): boolean;
  /** Links the pending edit to the message, so that both are deleted together. */
  applied(accountId: string, externalId: string, message: MessageId): void;
  /** Writes the links. Must be called after the batch's own events are stored. */
  flush(tx: Tx): Promise<void>;
}

/** Key of a message in {@link Edits}. */
export const targetOf = (accountId: string, thread: string, messageExternalId: string): string =>
  `${accountId}\n${thread}\n${messageExternalId}`;

export async function loadEdits(tx: Tx, incoming: readonly IncomingEvent[]): Promise<Edits> {
  const waiting = new Map<string, TextChange>();
  const newest = new Map<string, number>();
  const links: { readonly accountId: string; readonly externalId: string; readonly message: MessageId }[] = [];

  function add(target: string, event: TextChange): void {
    const before = waiting.get(target);
    const isOlder = event.kind === "edit" && before !== undefined && event.sentAt < before.sentAt;
    if (before?.kind !== "delete" && !isOlder) waiting.set(target, event);
  }

  function isNewest(target: string, { kind, sentAt }: TextChange): boolean {
    if (kind === "delete") return true;
    if (sentAt < (newest.get(target) ?? 0)) return false;
    newest.set(target, sentAt);
    return true;
  }

  for (const [target, change] of await changesOfMessages(tx, incoming)) add(target, change);
  for (const [target, change] of await lastEdits(tx, incoming)) isNewest(target, change);

  return {
    pending: (target) => waiting.get(target),
    add,
    isNewest,
    applied: (accountId, externalId, message) => links.push({ accountId, externalId, message }),
    async flush(tx2) {
      for (const { accountId, externalId, message } of links) {
        await tx2
          .updateTable("inbound_events")
          .set({ conversation_id: message.conversation_id, message_id: message.id })
          .where("account_id", "=", accountId)
          .where("target_external_id", "=", externalId)
          .where("message_id", "is", null)
          .execute();
      }
    },
  };
}

/** Edits a message that is not inserted yet. A deleted message stays deleted. */
export function changeText(message: MessagesTable, event: TextChange, now: number): void {
  if (message.deleted_at !== null) return;
  if (event.kind === "edit") Object.assign(message, { content: event.text, edited_at: now });
  else Object.assign(message, { content: "", refers_to: null, forwarded: null, deleted_at: now });
}

type Changes = readonly (readonly [target: string, change: TextChange])[];

/** Returns the stored edits and deletions of messages that arrive now. */
async function changesOfMessages(tx: Tx, incoming: readonly IncomingEvent[]): Promise<Changes> {
  const changes: Changes[] = [];
  const messages = incoming.flatMap(({ account, event }) => (event.kind === "message" ? [{ account, event }] : []));
  for (const [accountId, group] of Map.groupBy(messages, ({ account }) => account.id)) {
    const targets = group.map(({ event }) => event.messageExternalId ?? event.externalId);
    changes.push(changesIn(accountId, (await changesOf(tx, { accountId, targets })).rows));
  }
  return changes.flat();
}

/** Returns each message's newest stored edit. */
async function lastEdits(tx: Tx, incoming: readonly IncomingEvent[]): Promise<Changes> {
  const changes: Changes[] = [];
  const edits = incoming.flatMap(({ account, event }) => (event.kind === "edit" ? [{ account, event }] : []));
  for (const [accountId, group] of Map.groupBy(edits, ({ account }) => account.id)) {
    for (const target of new Set(group.map(({ event }) => event.messageExternalId))) {
      // Skipped edits are stored without a target, so the last stored edit is also the newest one.
      changes.push(changesIn(accountId, (await lastEditOf(tx, { accountId, target })).rows));
    }
  }
  return changes.flat();
}

/** Skips messages that joined another one, and events whose content was erased with their conversation. */
function changesIn(accountId: string, rows: readonly { readonly payload: string }[]): Changes {
  return rows.flatMap(({ payload }) => {
    const event = JSON.parse(payload) as TextChange | { readonly kind?: "message" };
    if (event.kind !== "edit" && event.kind !== "delete") return [];
    return [[targetOf(accountId, event.thread, event.messageExternalId), event] as const];
  });
}

const changesOf = prepareStatement(
  (db, { accountId, targets }: { readonly accountId: string; readonly targets: readonly string[] }) =>
    db
      .selectFrom("inbound_events")
      .select("payload")
      .where("account_id", "=", accountId)
      .where("target_external_id", "in", targets)
      .orderBy("id"),
);

/** Reads a single row, because a shared live location can have thousands of edits. */
const lastEditOf = prepareStatement(
  (db, { accountId, target }: { readonly accountId: string; readonly target: string }) =>
    db
      .selectFrom("inbound_events")
      .select("payload")
      .where("account_id", "=", accountId)
      .where("target_external_id", "=", target)
      .where("kind", "=", "edit")
      .orderBy("id", "desc")
      .limit(1),
);

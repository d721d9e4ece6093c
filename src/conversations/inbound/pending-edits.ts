import type { InboundEvent } from "#channels/contract.ts";
import { prepareWork } from "#database/dialects/prepared.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { TextChange } from "./incoming-event.ts";
import type { Tx } from "#database/contract.ts";

/** A pending edit that was applied when its message arrived. */
export interface AppliedEdit {
  readonly accountId: string;
  readonly externalId: string;
  readonly message: Pick<MessagesTable, "id" | "conversation_id">;
}

export const targetOf = (accountId: string, thread: string, messageExternalId: string): string =>
  `${accountId}\n${thread}\n${messageExternalId}`;

/** Keeps the newest edit of a message. A deletion always wins over edits. */
export function storePendingEdit(edits: Map<string, TextChange>, target: string, event: TextChange): void {
  const before = edits.get(target);
  const isOlder = event.kind === "edit" && before !== undefined && event.sentAt < before.sentAt;
  if (before?.kind !== "delete" && !isOlder) edits.set(target, event);
}

type IncomingEdit = readonly { readonly account: { readonly id: string }; readonly event: InboundEvent }[];

/**
 * Returns the time of each message's newest stored edit, by {@link targetOf}. Platforms redeliver unacknowledged
 * events, so an old edit can arrive after a newer one. {@link isNewest} adds the edits of the current batch.
 */
export async function lastEdits(tx: Tx, incoming: IncomingEdit): Promise<Map<string, number>> {
  const last = new Map<string, number>();
  const edits = incoming.flatMap(({ account, event }) => (event.kind === "edit" ? [{ account, event }] : []));
  for (const [accountId, group] of Map.groupBy(edits, ({ account }) => account.id)) {
    for (const target of new Set(group.map(({ event }) => event.messageExternalId))) {
      // Skipped edits are stored without a target, so the last stored edit is also the newest one.
      for (const change of changesIn((await lastEditOf(tx, { accountId, target })).rows)) {
        isNewest(last, targetOf(accountId, change.thread, change.messageExternalId), change);
      }
    }
  }
  return last;
}

/** Returns whether no newer edit of the message is known, and records this one as the newest. */
export function isNewest(last: Map<string, number>, target: string, { kind, sentAt }: TextChange): boolean {
  if (kind === "delete") return true;
  if (sentAt < (last.get(target) ?? 0)) return false;
  last.set(target, sentAt);
  return true;
}

/** Returns edits and deletions that arrived before their message, by {@link targetOf}. */
export async function pendingEdits(tx: Tx, incoming: IncomingEdit): Promise<Map<string, TextChange>> {
  const pending = new Map<string, TextChange>();
  const messages = incoming.filter(({ event }) => event.kind === "message");
  for (const [accountId, group] of Map.groupBy(messages, ({ account }) => account.id)) {
    const targets = group.map(({ event }) =>
      event.kind === "message" ? (event.messageExternalId ?? event.externalId) : event.externalId,
    );
    const { rows } = await changesOf(tx, { accountId, targets });
    for (const change of changesIn(rows)) {
      storePendingEdit(pending, targetOf(accountId, change.thread, change.messageExternalId), change);
    }
  }
  return pending;
}

/** Skips messages that joined another one, and events whose content was erased with their conversation. */
function changesIn(rows: readonly { readonly payload: string }[]): readonly TextChange[] {
  return rows.flatMap(({ payload }) => {
    const event = JSON.parse(payload) as Partial<TextChange>;
    return event.kind === "edit" || event.kind === "delete" ? [event as TextChange] : [];
  });
}

const changesOf = prepareWork(
  (db, { accountId, targets }: { readonly accountId: string; readonly targets: readonly string[] }) =>
    db
      .selectFrom("inbound_events")
      .select("payload")
      .where("account_id", "=", accountId)
      .where("target_external_id", "in", targets)
      .orderBy("id"),
);

/** Reads a single row, because a shared live location can have thousands of edits. */
const lastEditOf = prepareWork((db, { accountId, target }: { readonly accountId: string; readonly target: string }) =>
  db
    .selectFrom("inbound_events")
    .select("payload")
    .where("account_id", "=", accountId)
    .where("target_external_id", "=", target)
    .where("kind", "=", "edit")
    .orderBy("id", "desc")
    .limit(1),
);

/** Links applied edits to their conversation, so that they are deleted with it. */
export async function linkApplied(tx: Tx, applied: readonly AppliedEdit[]): Promise<void> {
  for (const { accountId, externalId, message } of applied) {
    await tx
      .updateTable("inbound_events")
      .set({ conversation_id: message.conversation_id, message_id: message.id })
      .where("account_id", "=", accountId)
      .where("target_external_id", "=", externalId)
      .where("message_id", "is", null)
      .execute();
  }
}

import type { InboundEvent } from "#channels/contract.ts";
import { prepareWork } from "#database/dialects/prepared.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { TextChange } from "./incoming-event.ts";
import type { Tx } from "#database/contract.ts";

/** A change that waited for its message, and found it. */
export interface AppliedEdit {
  readonly accountId: string;
  readonly externalId: string;
  readonly message: Pick<MessagesTable, "id" | "conversation_id">;
}

export const targetOf = (accountId: string, thread: string, messageExternalId: string): string =>
  `${accountId}\n${thread}\n${messageExternalId}`;

/** What was deleted stays deleted, whatever comes after it; else the edit counts that was made last. */
export function storePendingEdit(edits: Map<string, TextChange>, target: string, event: TextChange): void {
  const before = edits.get(target);
  const isOlder = event.kind === "edit" && before !== undefined && event.sentAt < before.sentAt;
  if (before?.kind !== "delete" && !isOlder) edits.set(target, event);
}

type IncomingEdit = readonly { readonly account: { readonly id: string }; readonly event: InboundEvent }[];

/**
 * When messages were edited last, as far as it is known; those of these events are added as they are taken. Platforms
 * deliver again what was not acknowledged, which may be after what came later.
 */
export async function lastEdits(tx: Tx, incoming: IncomingEdit): Promise<Map<string, number>> {
  const last = new Map<string, number>();
  const edits = incoming.flatMap(({ account, event }) => (event.kind === "edit" ? [{ account, event }] : []));
  for (const [accountId, group] of Map.groupBy(edits, ({ account }) => account.id)) {
    for (const target of new Set(group.map(({ event }) => event.messageExternalId))) {
      // One that was passed over has no target, so the last that came is the last that was made.
      for (const change of changesIn((await lastEditOf(tx, { accountId, target })).rows)) {
        isNewest(last, targetOf(accountId, change.thread, change.messageExternalId), change);
      }
    }
  }
  return last;
}

/** Whether nothing has changed the message after this was done, which counts from then on. */
export function isNewest(last: Map<string, number>, target: string, { kind, sentAt }: TextChange): boolean {
  if (kind === "delete") return true;
  if (sentAt < (last.get(target) ?? 0)) return false;
  last.set(target, sentAt);
  return true;
}

/** Edits and deletions that came before the message that they change. */
export async function pendingEdits(tx: Tx, incoming: IncomingEdit): Promise<Map<string, TextChange>> {
  const parked = new Map<string, TextChange>();
  const messages = incoming.filter(({ event }) => event.kind === "message");
  for (const [accountId, group] of Map.groupBy(messages, ({ account }) => account.id)) {
    const targets = group.map(({ event }) =>
      event.kind === "message" ? (event.messageExternalId ?? event.externalId) : event.externalId,
    );
    const { rows } = await changesOf(tx, { accountId, targets });
    for (const change of changesIn(rows)) {
      storePendingEdit(parked, targetOf(accountId, change.thread, change.messageExternalId), change);
    }
  }
  return parked;
}

/** The text of a deleted conversation's events is gone; and what joins a message changes it otherwise. */
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

/** A place that somebody shares is edited thousands of times. */
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

/** So that what waited is deleted with the conversation that it was for. */
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

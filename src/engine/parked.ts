import type { InboundEvent } from "#channel/contract.ts";
import { prepareWork } from "#store/prepared.ts";
import type { MessagesTable } from "#store/schema.ts";
import type { TextChange } from "./inbound-changes.ts";
import type { Tx } from "./ports.ts";

/** A change that waited for its message, and found it. */
export interface Applied {
  readonly accountId: string;
  readonly externalId: string;
  readonly message: Pick<MessagesTable, "id" | "conversation_id">;
}

export const targetOf = (accountId: string, thread: string, messageExternalId: string): string =>
  `${accountId}\n${thread}\n${messageExternalId}`;

/** What was deleted stays deleted, whatever comes after it. */
export function park(parked: Map<string, TextChange>, target: string, event: TextChange): void {
  if (parked.get(target)?.kind !== "delete") parked.set(target, event);
}

/** Edits and deletions that came before the message that they change. */
export async function parkedChanges(
  tx: Tx,
  arrivals: readonly { readonly account: { readonly id: string }; readonly event: InboundEvent }[],
): Promise<Map<string, TextChange>> {
  const parked = new Map<string, TextChange>();
  const messages = arrivals.filter(({ event }) => event.kind === "message");
  for (const [accountId, group] of Map.groupBy(messages, ({ account }) => account.id)) {
    const targets = group.map(({ event }) =>
      event.kind === "message" ? (event.messageExternalId ?? event.externalId) : event.externalId,
    );
    const { rows } = await changesOf(tx, { accountId, targets });
    for (const row of rows) {
      const event = JSON.parse(row.payload) as Partial<TextChange>;
      // The text of a deleted conversation's events is gone; and what joins a message changes it otherwise.
      if (event.kind !== "edit" && event.kind !== "delete") continue;
      const change = event as TextChange;
      park(parked, targetOf(accountId, change.thread, change.messageExternalId), change);
    }
  }
  return parked;
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

/** So that what waited is deleted with the conversation that it was for. */
export async function linkApplied(tx: Tx, applied: readonly Applied[]): Promise<void> {
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

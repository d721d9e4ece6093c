import { botMayAnswer } from "#domain/conversation/status.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import type { DeliveriesTable } from "#database/schema/tables.ts";
import { attachmentsOf } from "#conversations/attachments/attachments.ts";
import type { UnitOfWork, Draft } from "#conversations/transaction/draft.ts";
import type { Channels } from "#channels/channels.ts";
import type { Tx } from "#database/contract.ts";
import { escalate } from "#conversations/transaction/owner.ts";
import { handOver } from "./bot-message.ts";
import { insertNote } from "#conversations/transaction/insert-note.ts";
import { settingsIn } from "#database/queries/workspaces.ts";

/**
 * Adds a note that a message did not reach the customer, and emits the event. With `channels`, an undelivered answer of
 * the bot is handed over to agents: the customer must not wait unseen.
 */
export async function noteFailure(
  tx: Tx,
  changes: UnitOfWork,
  delivery: Pick<DeliveriesTable, "conversation_id" | "message_id">,
  reason: string,
  channels?: Channels,
): Promise<void> {
  const found = await tx
    .selectFrom("conversations")
    .select("workspace_id")
    .where("id", "=", delivery.conversation_id)
    .executeTakeFirst();
  if (found === undefined) return;
  const row = await lockConversation(tx, found.workspace_id, delivery.conversation_id);
  if (row === undefined) return;
  const settings = await settingsIn(tx, row.workspace_id);
  const draft = changes.track(row, settings, false);
  await noteProblem(tx, draft, reason, changes.now);
  const message = await tx
    .selectFrom("messages")
    .selectAll()
    .where("id", "=", delivery.message_id)
    .executeTakeFirstOrThrow();
  const attachments = (await attachmentsOf(tx, [message])).get(message.id) ?? [];
  draft.emit("message.delivery_failed", systemActor("delivery"), { message, attachments, error: reason });
  if (channels === undefined || message.role !== "assistant" || !botMayAnswer(draft.row.status)) return;
  const actor = systemActor("delivery");
  const why = "an answer may not have reached the customer";
  if (channels.loaded({ id: draft.row.account_id })) handOver(draft, channels, settings, actor, { reason: why });
  else escalate(draft, actor, why);
}

/** Adds a note for agents about a problem with the customer's channel. */
export async function noteProblem(tx: Tx, draft: Draft, reason: string, now: number): Promise<void> {
  const note = { content: reason, authorEmail: "system", hereOnly: true } as const;
  await insertNote(tx, draft, note, systemActor("delivery"), now);
}

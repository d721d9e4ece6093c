import type { Tx } from "#database/contract.ts";
import { isCustomerOf } from "#conversations/feedback/customer-of.ts";
import { changeReactions } from "#conversations/references/stored-reactions.ts";
import { messageNamed } from "#conversations/references/stored-reference.ts";
import { thumbOf } from "#domain/conversation/reaction.ts";
import type { EventHandler, IngestBatch } from "../batch.ts";
import type { EventOf } from "#channels/inbound-event.ts";
import type { IncomingEvent } from "#conversations/transaction/incoming-event.ts";
import { noResult } from "../incoming-event.ts";
import { targetOf } from "../pending-edits.ts";
import { ingestFeedback } from "./feedback.ts";

type Reaction = EventOf<"reaction">;

interface Reacted {
  readonly id: string;
  readonly isAnswer: boolean;
}

/** Stores a customer's reaction. The conversation and its reports stay as they are. */
export const ingestReaction: EventHandler<"reaction"> = async (batch, incoming, row) => {
  if (row === undefined) return noResult;
  const { tx, changes, now } = batch;
  const { account, workspace, event } = incoming;
  const result = { ...noResult, conversationId: row.id };
  const message = await reactedMessage(batch, incoming, row.id);
  if (message === undefined || !(await isCustomerOf(tx, row, account.channel, event.sender))) return result;
  const reacted = { ...result, messageId: message.id };
  const isOpinion = (emoji: string) => message.isAnswer && thumbOf(emoji) !== undefined;
  const value = message.isAnswer ? await opinionIn(tx, message.id, event) : undefined;
  if (value !== undefined) {
    const { externalId, thread, sender, sentAt } = event;
    const base = { externalId, thread, sender, sentAt };
    await ingestFeedback(
      batch,
      { ...incoming, event: { ...base, kind: "feedback", of: { messageId: message.id }, value } },
      row,
    );
  }
  const author = {
    message_id: message.id,
    conversation_id: row.id,
    author: event.sender.key,
    // Platforms that leave out the name do so where the customer is alone with the bot.
    author_name: event.sender.name ?? row.customer_name,
    at: Math.min(event.sentAt, now),
  };
  const others = { added: event.added.filter((emoji) => !isOpinion(emoji)), removed: event.removed };
  if (await changeReactions(tx, author, others)) {
    changes.track(row, workspace.settings, false).messageReacted(message.id);
  }
  return reacted;
};

/** Also a message that the same batch stores. */
async function reactedMessage(
  { tx, newMessages }: IngestBatch,
  { account, event }: IncomingEvent<Reaction>,
  conversationId: string,
): Promise<Reacted | undefined> {
  const { externalIds } = event.of;
  const arriving = externalIds
    .map((externalId) => newMessages.get(targetOf(account.id, event.thread, externalId)))
    .find((message) => message !== undefined && message.deleted_at === null);
  if (arriving !== undefined) return { id: arriving.id, isAnswer: false };
  const id = await messageNamed(tx, account.id, conversationId, event.of);
  const message = await tx
    .selectFrom("messages")
    .select(["id", "kind"])
    .where("id", "=", id ?? "")
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return message && { id: message.id, isAnswer: message.kind === "answer" || message.kind === "refusal" };
}

/** The opinion of an answer that the event changes; null: it is taken back. Undefined: the event has none. */
async function opinionIn(tx: Tx, messageId: string, { sender, added, removed }: Reaction) {
  const given = added.map(thumbOf).findLast((thumb) => thumb !== undefined);
  if (given !== undefined) return given;
  if (removed === "all") return added.length === 0 ? null : undefined;
  const before = await tx
    .selectFrom("answer_feedback")
    .select("value")
    .where("message_id", "=", messageId)
    .where("sender", "=", sender.key)
    .executeTakeFirst();
  // A thumb pressed as a button since then counts.
  return removed.some((emoji) => thumbOf(emoji) === before?.value) ? null : undefined;
}

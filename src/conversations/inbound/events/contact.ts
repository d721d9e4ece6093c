import type { KnownContact } from "#conversations/contacts/contacts.ts";
import { customerActor, showContact } from "#conversations/contacts/contacts.ts";
import { moveWork } from "#conversations/contacts/merge.ts";
import type { Draft } from "#conversations/transaction/draft.ts";
import type { EventHandler, IngestBatch } from "../batch.ts";
import { senderOf } from "../batch.ts";
import { noResult } from "../incoming-event.ts";

/** Stores what customers say about themselves. */
export const ingestContact: EventHandler<"contact"> = (batch, incoming, row) => {
  const customer = batch.contacts.of(senderOf(incoming));
  const { contact: claimed, start } = incoming.event;
  batch.contacts.setClaimed(customer.contact, claimed);
  if (start !== undefined) batch.contacts.setPendingStart(customer.contact, start);
  if (row === undefined) return noResult;
  const draft = batch.changes.track(row, incoming.workspace.settings, false);
  if (showCustomer(batch, draft, customer)) draft.touch();
  return { ...noResult, conversationId: row.id };
};

/** Moves the conversation to the contact if the thread's customer turns out to be another one. */
export function showCustomer({ changes, now }: IngestBatch, draft: Draft, customer: KnownContact): boolean {
  const { contact_id: before } = draft.row;
  const isChanged = showContact(draft, customer, customerActor(customer.contact));
  if (before !== draft.row.contact_id) {
    for (const id of [before, draft.row.contact_id]) for (const work of moveWork(id, now)) changes.addWork(work);
  }
  return isChanged;
}

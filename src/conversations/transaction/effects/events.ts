import { newId } from "#domain/ids.ts";
import type { ChangedPart, ConversationEventType, EventType } from "#domain/event-types.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { tagsIn } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { RatingsTable } from "#database/schema/feedback.ts";
import type { ContactsTable, MessagesTable } from "#database/schema/tables.ts";
import type { EndpointSubscription, NewEvent } from "#database/queries/webhooks.ts";
import { endpointSubscriptions, insertEvents } from "#database/queries/webhooks.ts";
import type { Note } from "#conversations/transaction/note.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { attachmentsOf, groupWaitMs } from "#conversations/attachments/attachments.ts";
import { reactionsOf } from "#conversations/references/stored-reactions.ts";
import type { Tx } from "#database/contract.ts";
import {
  contactItem,
  conversationItem,
  documentItem,
  messageItem,
  noteItem,
  ratingItem,
  timestamp,
} from "#conversations/transaction/representation.ts";

export interface EventDetails {
  /** Set for a change of status. */
  readonly previousStatus?: Status;
  readonly message?: MessagesTable;
  /** The attachments of the message. */
  readonly attachments?: readonly AttachmentRow[];
  /** The reason of a failure, in words for people. */
  readonly error?: string;
  /** A rule's notice for agents. */
  readonly notice?: { readonly rule: string; readonly text: string };
  readonly rating?: RatingsTable;
  readonly note?: Note;
  readonly changed?: readonly ChangedPart[];
  /** Ids of the contacts that had and has the conversation. */
  readonly merge?: { readonly source: string; readonly target: string };
  /** `dueAt`: epoch milliseconds; null while the clock is stopped. */
  readonly sla?: { readonly targetMinutes: number; readonly dueAt: number | null };
}

interface Subject {
  readonly row: ConversationRow;
  readonly settings: WorkspaceSettings;
  touch(): void;
}

interface EmittedEvent {
  readonly subject: Subject;
  readonly type: ConversationEventType;
  /** Null: the author of the message. */
  readonly actor: Actor | null;
  /** Each event has the status after its own change, even if the transaction makes several. */
  readonly status: Status;
  readonly details: EventDetails;
  /** The message to read once all changes are written. */
  readonly messageId?: string;
}

/** A stored message to which files were added. */
interface JoinedMessage {
  readonly subject: Subject;
  readonly messageId: string;
}

/** A stored event that is not sent yet. */
interface QueuedEvent {
  readonly eventId: string;
  readonly payload: string;
  readonly messageId: string;
}

/** Collects the events of a transaction in memory, and writes them at its end. */
export interface Events {
  emit(subject: Subject, type: ConversationEventType, actor: Actor, details: EventDetails): void;
  /** Called when a stored message was changed or deleted. */
  emitUpdate(subject: Subject, messageId: string): void;
  /**
   * Called when files were added to a stored message. Adds them to its pending event if there is one; otherwise emits
   * an update.
   */
  emitJoined(subject: Subject, messageId: string): void;
  /** Must be called in the transaction that changes the stored contact, with the row after the change. */
  emitContact(contact: ContactsTable, actor: Actor): void;
  /** Numbers the subscribed events. Called before the conversations' rows are written, since these hold the count. */
  number(tx: Tx): Promise<void>;
  /** Writes the numbered events, after the tags. Returns the work that sends them. */
  store(tx: Tx): Promise<readonly NewWork[]>;
}

/**
 * Stores only events of types that an endpoint of the workspace subscribes to, so that a workspace without endpoints
 * costs one indexed read per transaction. Disabled endpoints count, since missed events can be sent once they are
 * enabled.
 */
export function createEvents(now: number): Events {
  const emitted: EmittedEvent[] = [];
  const joined = new Map<string, JoinedMessage>();
  const unsent: QueuedEvent[] = [];
  const contacts = new Map<string, { readonly contact: ContactsTable; readonly actor: Actor }>();
  let subscriptions: readonly EndpointSubscription[] = [];
  let numbered: readonly { readonly event: EmittedEvent; readonly sequence: number }[] = [];

  function emitUpdate(subject: Subject, messageId: string): void {
    emitted.push({
      subject,
      type: "message.updated",
      actor: null,
      status: subject.row.status,
      details: {},
      messageId,
    });
  }

  return {
    emit(subject, type, actor, details) {
      emitted.push({ subject, type, actor, status: subject.row.status, details });
    },

    emitUpdate,

    emitJoined(subject, messageId) {
      joined.set(messageId, { subject, messageId });
    },

    emitContact(contact, actor) {
      contacts.set(contact.id, { contact, actor });
    },

    async number(tx) {
      const rows = [
        ...[...emitted, ...joined.values()].map(({ subject }) => subject.row),
        ...contacts.values().map(({ contact }) => contact),
      ];
      if (rows.length === 0) return;
      subscriptions = await endpointSubscriptions(
        tx,
        rows.map((row) => row.workspace_id),
      );
      if (subscriptions.length === 0) return;
      for (const { subject, messageId } of joined.values()) {
        const event = await queuedEventsOf(tx, subject.row.id, messageId, now);
        if (event === undefined) emitUpdate(subject, messageId);
        else unsent.push(event);
      }
      numbered = emitted
        .filter(({ subject, type }) => isSubscribed(subscriptions, subject.row.workspace_id, type))
        .map((event) => {
          const { row } = event.subject;
          row.event_seq += 1;
          event.subject.touch();
          return { event, sequence: row.event_seq };
        });
    },

    async store(tx) {
      for (const { eventId, payload, messageId } of unsent) {
        const message = (await messageNow(tx, messageId))?.item;
        if (message === undefined) continue;
        const before = JSON.parse(payload) as { readonly data: object };
        const whole = JSON.stringify({ ...before, data: { ...before.data, message } });
        await tx.updateTable("events").set({ payload: whole }).where("id", "=", eventId).execute();
      }
      const updated = [...contacts.values()].filter(({ contact }) =>
        isSubscribed(subscriptions, contact.workspace_id, "contact.updated"),
      );
      if (numbered.length + updated.length === 0) return [];
      const tags = await tagsIn(
        tx,
        numbered.map(({ event }) => event.subject.row.id),
      );
      const held = new Map<string, number>();
      const events: NewEvent[] = [];
      for (const { event, sequence } of numbered) {
        const { subject, type, status, details } = event;
        const { row, settings } = subject;
        const changed = event.messageId === undefined ? undefined : await messageNow(tx, event.messageId);
        const actor = event.actor ?? changed?.author ?? systemActor("messages");
        const message =
          details.message === undefined
            ? changed?.item
            : messageItem(details.message, { attachments: details.attachments });
        const stored = newEvent(now, {
          workspaceId: row.workspace_id,
          type,
          subjectId: row.id,
          sequence,
          data: {
            // The event outlives the conversation, so it has the id only.
            conversation:
              type === "conversation.deleted"
                ? { id: row.id }
                : conversationItem({ ...row, status }, tags.get(row.id) ?? [], settings, now),
            previous_status: details.previousStatus ?? null,
            actor: { type: actor.type, id: actor.id, name: actor.name },
            sequence,
            ...(message === undefined ? {} : { message }),
            ...itemsOf(details),
          },
        });
        events.push(stored);
        // Held back until the rest of the album may have arrived.
        const mayJoin = type === "message.created" && details.attachments?.some((file) => file.group_key !== null);
        if (mayJoin === true) held.set(stored.id, now + groupWaitMs);
      }
      events.push(...updated.map(({ contact, actor }) => contactEvent(contact, actor, now)));
      return insertEvents(tx, events, subscriptions, now, held);
    },
  };
}

/** The fields that only some types have. */
const itemsOf = ({ error, notice, rating, note, changed, merge, sla }: EventDetails): object => ({
  ...(error === undefined ? {} : { error }),
  ...(notice === undefined ? {} : { notice }),
  ...(rating === undefined ? {} : { rating: ratingItem(rating) }),
  ...(note === undefined ? {} : { note: noteItem(note) }),
  ...(changed === undefined ? {} : { changed }),
  ...(merge === undefined ? {} : { merge: { source_contact_id: merge.source, target_contact_id: merge.target } }),
  ...(sla === undefined
    ? {}
    : { sla: { target_minutes: sla.targetMinutes, due_at: sla.dueAt === null ? null : timestamp(sla.dueAt) } }),
});

/** The unsent event of this message, while the rest of its album may arrive. */
async function queuedEventsOf(
  tx: Tx,
  conversationId: string,
  messageId: string,
  now: number,
): Promise<QueuedEvent | undefined> {
  const rows = await tx
    .selectFrom("events")
    .select(["id", "payload"])
    .where("subject_id", "=", conversationId)
    .where("type", "=", "message.created")
    .where("created_at", ">", now - groupWaitMs)
    .execute();
  const found = rows.find(({ payload }) => {
    const { data } = JSON.parse(payload) as { readonly data: { readonly message?: { readonly id?: string } } };
    return data.message?.id === messageId;
  });
  return found === undefined ? undefined : { eventId: found.id, payload: found.payload, messageId };
}

async function messageNow(tx: Tx, messageId: string) {
  const row = await tx.selectFrom("messages").selectAll().where("id", "=", messageId).executeTakeFirst();
  if (row === undefined) return undefined;
  const attachments = (await attachmentsOf(tx, [row])).get(row.id) ?? [];
  const reactions = (await reactionsOf(tx, [row])).get(row.id);
  return { author: authorOf(row), item: messageItem(row, { attachments, reactions }) };
}

/** Emits an event for an indexed or failed document. Must be called in the transaction that changes its status. */
export async function emitDocumentEvent(tx: Tx, documentId: string, now: number): Promise<void> {
  const row = await tx.selectFrom("documents").selectAll().where("id", "=", documentId).executeTakeFirst();
  if (row === undefined || (row.status !== "indexed" && row.status !== "failed")) return;
  // An answering website stays indexed when a crawl of it fails.
  const type = row.error === null ? "document.indexed" : "document.failed";
  const subscriptions = await endpointSubscriptions(tx, [row.workspace_id]);
  if (!isSubscribed(subscriptions, row.workspace_id, type)) return;
  const { type: actorType, id, name } = systemActor("documents");
  const event = newEvent(now, {
    workspaceId: row.workspace_id,
    type,
    subjectId: row.id,
    sequence: null,
    data: {
      document: documentItem(row),
      previous_status: null,
      actor: { type: actorType, id, name },
      sequence: null,
    },
  });
  await insertWork(tx, await insertEvents(tx, [event], subscriptions, now), now);
}

function contactEvent(contact: ContactsTable, { type, id, name }: Actor, now: number): NewEvent {
  return newEvent(now, {
    workspaceId: contact.workspace_id,
    type: "contact.updated",
    subjectId: contact.id,
    sequence: null,
    data: { contact: contactItem(contact), previous_status: null, actor: { type, id, name }, sequence: null },
  });
}

/** Emits events for contacts that this transaction has changed outside of a unit of work. */
export async function emitContactEvents(
  tx: Tx,
  contacts: readonly ContactsTable[],
  actor: Actor,
  now: number,
): Promise<void> {
  const events = createEvents(now);
  for (const contact of contacts) events.emitContact(contact, actor);
  await events.number(tx);
  await insertWork(tx, await events.store(tx), now);
}

/** Stores a test event for one endpoint. The caller sends it; no work is queued. */
export async function storeTestEvent(
  tx: Tx,
  endpoint: { readonly id: string; readonly workspaceId: string },
  now: number,
): Promise<string> {
  const { type, id, name } = systemActor("webhook-test");
  const event = newEvent(now, {
    workspaceId: endpoint.workspaceId,
    type: "webhook.test",
    subjectId: endpoint.id,
    sequence: null,
    data: { conversation: null, previous_status: null, actor: { type, id, name }, sequence: null },
  });
  await insertEvents(tx, [event], [], now);
  return event.id;
}

function isSubscribed(subscriptions: readonly EndpointSubscription[], workspaceId: string, type: EventType): boolean {
  return subscriptions.some((subscription) => subscription.workspaceId === workspaceId && subscription.types.has(type));
}

function newEvent(
  now: number,
  event: {
    readonly workspaceId: string;
    readonly type: EventType;
    readonly subjectId: string;
    readonly sequence: number | null;
    readonly data: object;
  },
): NewEvent {
  const id = newId("evt", now);
  const data = { event_id: id, workspace_id: event.workspaceId, ...event.data };
  return {
    id,
    workspace_id: event.workspaceId,
    type: event.type,
    subject_id: event.subjectId,
    sequence: event.sequence,
    payload: JSON.stringify({ type: event.type, timestamp: timestamp(now), data }),
    created_at: now,
  };
}

/** The author of a message, as an event's actor. */
export function authorOf(message: MessagesTable): Actor {
  const type = message.role === "user" ? "customer" : message.role;
  return { type, id: message.author_id, name: message.author_name };
}

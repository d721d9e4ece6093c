import { newId } from "#domain/ids.ts";
import type { ConversationEventType, EventType } from "#domain/event-types.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { EndpointSubscription, NewEvent } from "#database/queries/webhooks.ts";
import { endpointSubscriptions, insertEvents } from "#database/queries/webhooks.ts";
import type { AttachmentRow } from "#conversations/attachments/attachments.ts";
import { attachmentsOf, groupWaitMs } from "#conversations/attachments/attachments.ts";
import type { Tx } from "#database/contract.ts";
import { conversationItem, documentItem, messageItem, timestamp } from "#conversations/representation.ts";

export interface EventDetails {
  /** Where the event is a change of status. */
  readonly previousStatus?: Status;
  readonly message?: MessagesTable;
  /** What came with the message. */
  readonly attachments?: readonly AttachmentRow[];
  /** Why something failed, in words for people. */
  readonly error?: string;
  /** What a rule wants the agents to know. */
  readonly notice?: { readonly rule: string; readonly text: string };
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
  /** Several changes of one transaction are each told with the status that they led to. */
  readonly status: Status;
  readonly details: EventDetails;
  /** The message as it is when everything is written. */
  readonly messageId?: string;
}

/** More has joined a message that was told of before. */
interface JoinedMessage {
  readonly subject: Subject;
  readonly messageId: string;
}

/** An event that nobody has been sent yet. */
interface QueuedEvent {
  readonly eventId: string;
  readonly payload: string;
  readonly messageId: string;
}

/** What a transaction tells of conversations, gathered in memory and written at its end. */
export interface Events {
  emit(subject: Subject, type: ConversationEventType, actor: Actor, details: EventDetails): void;
  /** A stored message was changed or taken back. */
  emitUpdate(subject: Subject, messageId: string): void;
  /** More files have joined a stored message: the event of it names them too where it still waits, else they are told. */
  emitJoined(subject: Subject, messageId: string): void;
  /** Numbers what somebody wants to hear of; before the conversations' rows are written, which hold the count. */
  number(tx: Tx): Promise<void>;
  /** Writes what was numbered; after the tags are written. The work of sending it. */
  store(tx: Tx): Promise<readonly NewWork[]>;
}

/**
 * Events are stored only where an endpoint of the workspace wants their type, so that a workspace without endpoints pays
 * one indexed read a transaction. A disabled endpoint counts: what it missed can be sent when it is enabled.
 */
export function createEvents(now: number): Events {
  const told: EmittedEvent[] = [];
  const joined = new Map<string, JoinedMessage>();
  const unsent: QueuedEvent[] = [];
  let wishes: readonly EndpointSubscription[] = [];
  let numbered: readonly { readonly event: EmittedEvent; readonly sequence: number }[] = [];

  function emitUpdate(subject: Subject, messageId: string): void {
    told.push({
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
      told.push({ subject, type, actor, status: subject.row.status, details });
    },

    emitUpdate,

    emitJoined(subject, messageId) {
      joined.set(messageId, { subject, messageId });
    },

    async number(tx) {
      if (told.length + joined.size === 0) return;
      const subjects = [...told, ...joined.values()].map(({ subject }) => subject);
      wishes = await endpointSubscriptions(
        tx,
        subjects.map(({ row }) => row.workspace_id),
      );
      if (wishes.length === 0) return;
      for (const { subject, messageId } of joined.values()) {
        const event = await queuedEventsOf(tx, subject.row.id, messageId, now);
        if (event === undefined) emitUpdate(subject, messageId);
        else unsent.push(event);
      }
      numbered = told
        .filter(({ subject, type }) => isWanted(wishes, subject.row.workspace_id, type))
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
      if (numbered.length === 0) return [];
      const tags = await tagsOf(
        tx,
        numbered.map(({ event }) => event.subject.row.id),
      );
      const held = new Map<string, number>();
      const events: NewEvent[] = [];
      for (const { event, sequence } of numbered) {
        const { subject, type, status, details } = event;
        const { row, settings } = subject;
        const conversation = conversationItem({ ...row, status }, tags.get(row.id) ?? [], settings, now);
        const updated = event.messageId === undefined ? undefined : await messageNow(tx, event.messageId);
        const actor = event.actor ?? updated?.author ?? systemActor("messages");
        const message =
          details.message === undefined ? updated?.item : messageItem(details.message, details.attachments);
        const stored = newEvent(now, {
          workspaceId: row.workspace_id,
          type,
          subjectId: row.id,
          sequence,
          data: {
            conversation,
            previous_status: details.previousStatus ?? null,
            actor: { type: actor.type, id: actor.id, name: actor.name },
            sequence,
            ...(message === undefined ? {} : { message }),
            ...(details.error === undefined ? {} : { error: details.error }),
            ...(details.notice === undefined ? {} : { notice: details.notice }),
          },
        });
        events.push(stored);
        // The rest of an album is waited for.
        const mayJoin = type === "message.created" && details.attachments?.some((file) => file.group_key !== null);
        if (mayJoin === true) held.set(stored.id, now + groupWaitMs);
      }
      return insertEvents(tx, events, wishes, now, held);
    },
  };
}

/** The event of this message, while it waits for the rest of an album and is not sent. */
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
  return { author: authorOf(row), item: messageItem(row, attachments) };
}

/** Tells that a document is indexed or has failed, in the transaction in which it does. */
export async function emitDocumentEvent(tx: Tx, documentId: string, now: number): Promise<void> {
  const row = await tx.selectFrom("documents").selectAll().where("id", "=", documentId).executeTakeFirst();
  if (row === undefined || (row.status !== "indexed" && row.status !== "failed")) return;
  // A website that answers stays indexed when a crawl of it fails.
  const type = row.error === null ? "document.indexed" : "document.failed";
  const wishes = await endpointSubscriptions(tx, [row.workspace_id]);
  if (!isWanted(wishes, row.workspace_id, type)) return;
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
  await insertWork(tx, await insertEvents(tx, [event], wishes, now), now);
}

/** What an operator sends to see whether an endpoint takes it. It is sent by who calls this, and by nobody else. */
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

function isWanted(wishes: readonly EndpointSubscription[], workspaceId: string, type: EventType): boolean {
  return wishes.some((wish) => wish.workspaceId === workspaceId && wish.types.has(type));
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

async function tagsOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await tx
    .selectFrom("conversation_tags")
    .select(["conversation_id", "tag"])
    .where("conversation_id", "in", [...new Set(ids)])
    .orderBy("tag")
    .execute();
  const byConversation = Map.groupBy(rows, (row) => row.conversation_id);
  return new Map([...byConversation].map(([id, of]) => [id, of.map(({ tag }) => tag)]));
}

/** Who a message is told to be of. */
export function authorOf(message: MessagesTable): Actor {
  const type = message.role === "user" ? "customer" : message.role;
  return { type, id: message.author_id, name: message.author_name };
}

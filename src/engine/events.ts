import { newId } from "#domain/ids.ts";
import type { ConversationEventType, EventType } from "#domain/events.ts";
import type { Status } from "#domain/lifecycle.ts";
import type { Actor } from "#domain/message.ts";
import { systemActor } from "#domain/message.ts";
import type { WorkspaceSettings } from "#domain/workspace.ts";
import type { ConversationRow } from "#store/conversations.ts";
import type { NewWork } from "#store/outbox.ts";
import { insertWork } from "#store/outbox.ts";
import type { MessagesTable } from "#store/schema.ts";
import type { EndpointWish, NewEvent } from "#store/webhooks.ts";
import { endpointWishes, insertEvents } from "#store/webhooks.ts";
import type { AttachmentRow } from "./attachments.ts";
import type { Tx } from "./ports.ts";
import { conversationItem, documentItem, messageItem, timestamp } from "./representation.ts";

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

interface Told {
  readonly subject: Subject;
  readonly type: ConversationEventType;
  readonly actor: Actor;
  /** Several changes of one transaction are each told with the status that they led to. */
  readonly status: Status;
  readonly details: EventDetails;
}

/** What a transaction tells of conversations, gathered in memory and written at its end. */
export interface Events {
  tell(subject: Subject, type: ConversationEventType, actor: Actor, details: EventDetails): void;
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
  const told: Told[] = [];
  let wishes: readonly EndpointWish[] = [];
  let numbered: readonly { readonly event: Told; readonly sequence: number }[] = [];

  return {
    tell(subject, type, actor, details) {
      told.push({ subject, type, actor, status: subject.row.status, details });
    },

    async number(tx) {
      if (told.length === 0) return;
      wishes = await endpointWishes(
        tx,
        told.map(({ subject }) => subject.row.workspace_id),
      );
      if (wishes.length === 0) return;
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
      if (numbered.length === 0) return [];
      const tags = await tagsOf(
        tx,
        numbered.map(({ event }) => event.subject.row.id),
      );
      const events = numbered.map(({ event: { subject, type, actor, status, details }, sequence }) => {
        const { row, settings } = subject;
        const conversation = conversationItem({ ...row, status }, tags.get(row.id) ?? [], settings, now);
        return newEvent(now, {
          workspaceId: row.workspace_id,
          type,
          subjectId: row.id,
          sequence,
          data: {
            conversation,
            previous_status: details.previousStatus ?? null,
            actor: { type: actor.type, id: actor.id, name: actor.name },
            sequence,
            ...(details.message === undefined ? {} : { message: messageItem(details.message, details.attachments) }),
            ...(details.error === undefined ? {} : { error: details.error }),
            ...(details.notice === undefined ? {} : { notice: details.notice }),
          },
        });
      });
      return insertEvents(tx, events, wishes, now);
    },
  };
}

/** Tells that a document is indexed or has failed, in the transaction in which it does. */
export async function tellOfDocument(tx: Tx, documentId: string, now: number): Promise<void> {
  const row = await tx.selectFrom("documents").selectAll().where("id", "=", documentId).executeTakeFirst();
  if (row === undefined || (row.status !== "indexed" && row.status !== "failed")) return;
  const type = `document.${row.status}` as const;
  const wishes = await endpointWishes(tx, [row.workspace_id]);
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

function isWanted(wishes: readonly EndpointWish[], workspaceId: string, type: EventType): boolean {
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

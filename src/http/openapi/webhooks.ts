import { Type } from "typebox";
import type { TSchema } from "typebox";
import { changedParts, eventTypes } from "#domain/event-types.ts";
import type { EventType } from "#domain/event-types.ts";
import * as schemas from "#http/v1/schemas.ts";

const standard = {
  event_id: Type.String({ description: "The same on each retry, and in the header `webhook-id`" }),
  workspace_id: Type.String(),
  previous_status: schemas.nullable(schemas.status),
  actor: schemas.actor,
};
const ofConversation = {
  ...standard,
  conversation: schemas.conversationItem,
  sequence: Type.Integer({ description: "Number of the event within its conversation, from 1" }),
};
const rating = Type.Object(
  {
    id: Type.String(),
    score: Type.Integer({ minimum: 1, maximum: 5, description: "1 is poor, 5 is very good" }),
    comment: schemas.nullable(Type.String()),
    agent: schemas.nullable(
      Type.String({ description: "The e-mail address of the agent who resolved the conversation" }),
    ),
    created_at: schemas.time,
    updated_at: schemas.time,
  },
  { title: "Rating" },
);
const merge = Type.Object({
  source_contact_id: Type.String({ description: "The contact that had the conversation" }),
  target_contact_id: Type.String({ description: "The contact that represents the customer now" }),
});
const sla = Type.Object({
  target_minutes: Type.Integer(),
  due_at: schemas.nullable(
    Type.String({ format: "date-time", description: "End of the target; null while the conversation does not wait" }),
  ),
});
const noSequence = Type.Null();

function eventSchema(title: string, types: readonly EventType[], data: Record<string, TSchema>): TSchema {
  return Type.Object({ type: Type.Enum([...types]), timestamp: schemas.time, data: Type.Object(data) }, { title });
}

const documentTypes = ["document.indexed", "document.failed"] as const;
const messageTypes = ["message.created", "message.updated"] as const;
const failedTypes = ["message.delivery_failed"] as const;
const noticeTypes = ["conversation.notice"] as const;
const ratingTypes = ["rating.created", "rating.updated"] as const;
const testTypes = ["webhook.test"] as const;
const updatedTypes = ["conversation.updated"] as const;
const mergedTypes = ["conversation.merged"] as const;
const deletedTypes = ["conversation.deleted"] as const;
const noteTypes = ["note.created"] as const;
const slaTypes = ["sla.at_risk", "sla.breached"] as const;
const contactTypes = ["contact.updated"] as const;
const others: readonly string[] = [
  ...documentTypes,
  ...messageTypes,
  ...failedTypes,
  ...noticeTypes,
  ...ratingTypes,
  ...updatedTypes,
  ...mergedTypes,
  ...deletedTypes,
  ...noteTypes,
  ...slaTypes,
  ...contactTypes,
];
const conversationTypes = eventTypes.filter((type) => !others.includes(type));

const events: readonly { readonly types: readonly EventType[]; readonly schema: TSchema }[] = [
  { types: conversationTypes, schema: eventSchema("ConversationEvent", conversationTypes, ofConversation) },
  {
    types: messageTypes,
    schema: eventSchema("MessageEvent", messageTypes, { ...ofConversation, message: schemas.message }),
  },
  {
    types: failedTypes,
    schema: eventSchema("DeliveryFailedEvent", failedTypes, {
      ...ofConversation,
      message: schemas.message,
      error: Type.String({ description: "Why it did not reach the customer, or may not have" }),
    }),
  },
  {
    types: noticeTypes,
    schema: eventSchema("NoticeEvent", noticeTypes, {
      ...ofConversation,
      notice: Type.Object({ rule: Type.String(), text: Type.String() }),
    }),
  },
  {
    types: ratingTypes,
    schema: eventSchema("RatingEvent", ratingTypes, { ...ofConversation, rating }),
  },
  {
    types: updatedTypes,
    schema: eventSchema("ConversationUpdatedEvent", updatedTypes, {
      ...ofConversation,
      changed: Type.Array(Type.Enum([...changedParts]), { minItems: 1 }),
    }),
  },
  {
    types: mergedTypes,
    schema: eventSchema("ConversationMergedEvent", mergedTypes, { ...ofConversation, merge }),
  },
  {
    types: deletedTypes,
    schema: eventSchema("ConversationDeletedEvent", deletedTypes, {
      ...ofConversation,
      previous_status: Type.Null(),
      conversation: Type.Object({ id: Type.String() }),
    }),
  },
  { types: noteTypes, schema: eventSchema("NoteEvent", noteTypes, { ...ofConversation, note: schemas.note }) },
  { types: slaTypes, schema: eventSchema("SlaEvent", slaTypes, { ...ofConversation, sla }) },
  {
    types: contactTypes,
    schema: eventSchema("ContactEvent", contactTypes, {
      ...standard,
      previous_status: Type.Null(),
      contact: schemas.contactItem,
      sequence: noSequence,
    }),
  },
  {
    types: documentTypes,
    schema: eventSchema("DocumentEvent", documentTypes, {
      ...standard,
      previous_status: Type.Null(),
      document: schemas.document,
      sequence: noSequence,
    }),
  },
  {
    types: testTypes,
    schema: eventSchema("TestEvent", testTypes, {
      ...standard,
      previous_status: Type.Null(),
      conversation: Type.Null(),
      sequence: noSequence,
    }),
  },
];

const header = (name: string, description: string): object => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

/** The `webhooks` of the OpenAPI document, by type of event. */
export function describeWebhooks(): Record<string, object> {
  return Object.fromEntries(
    events.flatMap(({ types, schema }) => types.map((type) => [type, { post: webhook(type, schema) }] as const)),
  );
}

function webhook(type: EventType, schema: TSchema): object {
  const name = type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return {
    operationId: `on${name}`,
    summary: `\`${type}\` happened`,
    security: [],
    parameters: [
      header("webhook-id", "The event's id"),
      header("webhook-timestamp", "When it was sent, in Unix seconds"),
      header("webhook-signature", "`v1,` and the HMAC-SHA256 in base64, after the Standard Webhooks specification"),
    ],
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: {
      "2XX": { description: "The event was accepted. After any other status but 410 it is retried" },
      "410": { description: "Disables the webhook" },
    },
  };
}

import { Type } from "typebox";
import type { TSchema } from "typebox";
import { eventTypes } from "#domain/event-types.ts";
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
  sequence: Type.Integer({ description: "Counts the events of the conversation from 1" }),
};
const noSequence = Type.Null();

function eventSchema(title: string, types: readonly EventType[], data: Record<string, TSchema>): TSchema {
  return Type.Object({ type: Type.Enum([...types]), timestamp: schemas.time, data: Type.Object(data) }, { title });
}

const documentTypes = ["document.indexed", "document.failed"] as const;
const messageTypes = ["message.created", "message.updated"] as const;
const failedTypes = ["message.delivery_failed"] as const;
const noticeTypes = ["conversation.notice"] as const;
const testTypes = ["webhook.test"] as const;
const others: readonly string[] = [...documentTypes, ...messageTypes, ...failedTypes, ...noticeTypes];
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

/** What is sent to a webhook, by the event's type: the `webhooks` of the OpenAPI document. */
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
      "2XX": { description: "The event was taken; everything else but 410 is sent again later" },
      "410": { description: "Disables the webhook" },
    },
  };
}

import { Type } from "typebox";
import { eventTypes } from "#domain/event-types.ts";
import * as schemas from "#http/v1/schemas.ts";

export const tags = ["Administration"];
export const params = Type.Object({ id: Type.String() });

const { nullable, time } = schemas;

export const events = Type.Array(Type.Enum([...eventTypes]), { minItems: 1, maxItems: 50, title: "EventTypes" });
export const address = Type.String({ minLength: 1, maxLength: 2_000 });

export const webhook = Type.Object(
  {
    id: Type.String(),
    url: Type.String(),
    events,
    state: Type.Enum(["enabled", "failing", "disabled"]),
    disabled_at: nullable(time),
    disabled_reason: nullable(Type.String()),
    failing_since: nullable(time),
    managed_by: Type.Enum(["operator", "file"]),
    waiting: Type.Integer({ description: "Events that are not delivered yet" }),
    created_at: time,
  },
  { title: "Webhook" },
);

const secret = Type.String({ description: "Verifies the requests. Shown once" });

export const newWebhook = Type.Object(
  { id: Type.String(), url: Type.String(), events, secret },
  { title: "NewWebhook" },
);

export const rotatedSecret = Type.Object(
  { secret, previous_until: Type.String({ format: "date-time", description: "The previous secret signs until then" }) },
  { title: "RotatedSecret" },
);

const attempt = {
  id: Type.Integer(),
  event_id: Type.String(),
  type: nullable(Type.String({ description: "Null: the event is older than 30 days" })),
  subject_id: nullable(Type.String({ description: "The conversation, contact or document of the event" })),
  attempt: Type.Integer({ description: "1 for the first" }),
  outcome: Type.Enum(["delivered", "retry", "given_up", "disabled"]),
  at: time,
  duration_ms: Type.Integer(),
  status: nullable(Type.Integer({ description: "HTTP status; null without an answer" })),
  error: nullable(Type.String()),
  next_at: nullable(time),
};

export const delivery = Type.Object(attempt, { title: "WebhookDelivery" });
export const deliveryDetail = Type.Object(
  {
    ...attempt,
    request: nullable(Type.String({ description: "The body as it was sent; null: the event is gone" })),
    request_headers: nullable(Type.String({ description: "Lines of `name: value`; null: not stored by that version" })),
    response: nullable(Type.String({ description: "The beginning of the answer's body" })),
    response_headers: nullable(Type.String({ description: "Lines of `name: value`; null without an answer" })),
  },
  { title: "WebhookDeliveryDetail" },
);

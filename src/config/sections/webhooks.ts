import { Type } from "typebox";
import { eventTypes } from "#domain/event-types.ts";
import { closed } from "./values.ts";

export const webhookSchema = closed(
  {
    url: Type.String({
      pattern: "^https?://",
      maxLength: 2_000,
      description: "The address that events are posted to.",
    }),
    events: Type.Optional(
      Type.Array(Type.Enum([...eventTypes]), {
        minItems: 1,
        maxItems: eventTypes.length,
        description: "Types of events; default: the first seven.",
      }),
    ),
    enabled: Type.Optional(Type.Boolean({ description: "false: nothing is sent." })),
    secret: Type.Optional(
      Type.String({
        // The base64 of 24 to 64 bytes.
        pattern: "^whsec_[A-Za-z0-9+/]{32,86}={0,2}$",
        description: "Signs the requests: whsec_ and the base64 of 24 to 64 bytes; default: one is generated.",
      }),
    ),
  },
  "A server that receives events.",
);

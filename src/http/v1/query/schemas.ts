import { Type } from "typebox";
import type { Static } from "typebox";
import { messageCodePointsMax, queryCodePointsMax } from "#domain/conversation/message.ts";
import { attributeNameMax, attributesMax, userTokenMax } from "#domain/customer/user-token.ts";
import { strictnesses } from "#domain/workspace/settings.ts";
import * as schemas from "#http/v1/schemas.ts";

const attributeValue = Type.Union([Type.String({ maxLength: 190 }), Type.Number(), Type.Boolean()]);

const userId = Type.String({ minLength: 1, maxLength: 190 });

export const queryBody = Type.Object(
  {
    workspace_id: Type.String(),
    query: Type.Optional(
      Type.String({ maxLength: queryCodePointsMax, description: "The question. This or `message` is required" }),
    ),
    message: Type.Optional(
      Type.String({ maxLength: messageCodePointsMax, description: "Another name for `query`, with a higher limit" }),
    ),
    conversation_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "Continues this conversation",
        allowed: "an id of a conversation",
      }),
    ),
    user: Type.Optional(
      Type.Object(
        {
          user_id: Type.Optional(userId),
          hash: Type.Optional(
            Type.String({
              maxLength: 100,
              description: "HMAC-SHA256 of user_id with the identity secret: hex or base64(url)",
            }),
          ),
          user_token: Type.Optional(
            Type.String({
              maxLength: userTokenMax,
              description: "JWT with sub, exp and attributes of the user; instead of user_id and hash",
            }),
          ),
          name: Type.Optional(Type.String({ maxLength: 190 })),
          email: Type.Optional(schemas.emailAddress),
          attributes: Type.Optional(
            Type.Record(
              Type.String({ minLength: 1, maxLength: attributeNameMax }),
              Type.Union([attributeValue, Type.Array(attributeValue, { maxItems: 50 })]),
              {
                maxProperties: attributesMax,
                description:
                  "Attributes of a verified user, such as `plan`, used by the rules of audience tags. Kept until a request sends new ones",
                allowed: `an object of at most ${attributesMax} texts, numbers, booleans or lists of them`,
              },
            ),
          ),
        },
        { title: "QueryUser" },
      ),
    ),
    user_id: Type.Optional(userId),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "Context, such as the page's URL" }),
    ),
    document_ids: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 100 })),
    top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 5 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    strictness: Type.Optional(Type.Enum([...strictnesses])),
    audience: Type.Optional(schemas.audience),
    verification_token: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "`<expiry>.<hex HMAC-SHA256 of user_id.expiry>`, instead of user.hash",
      }),
    ),
  },
  { title: "Query" },
);

export type QueryBody = Static<typeof queryBody>;

export const answerSchema = Type.Object(
  {
    answer: Type.String({ description: "Markdown" }),
    sources: Type.Array(schemas.source),
    conversation_id: Type.String(),
    message_id: schemas.nullable(Type.String()),
    skills_fired: Type.Array(Type.String()),
    latency_ms: Type.Integer(),
    tokens_used: Type.Integer(),
    confidence: schemas.nullable(schemas.confidence),
  },
  { title: "Answer" },
);

export const queryErrors = [
  ...schemas.withBody,
  ...schemas.withWorkspaceId,
  "message_too_long",
  "verification_required",
  "conversation_not_found",
  "document_not_found",
  "duplicate_request_id",
  "invalid_top_k",
  "invalid_temperature",
  "invalid_strictness",
  "invalid_audience",
  "quota_exhausted",
  "model_provider_error",
  "provider_down",
  "search_unavailable",
  "query_timeout",
] as const;

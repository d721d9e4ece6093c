import { Type } from "typebox";
import type { TSchema } from "typebox";
import { channels } from "#channels/catalog.ts";
import { auditActions, confidences } from "#domain/conversation/message.ts";
import { statuses } from "#domain/conversation/status.ts";
import type { ProblemCode } from "#domain/problem.ts";
import { problemStatus } from "#domain/problem.ts";
import { priorities, slaStates } from "#domain/conversation/sla.ts";

// A title makes a schema a component of the OpenAPI document.

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
export const time = Type.String({ format: "date-time", description: "ISO 8601, UTC, with milliseconds" });

export const channel = Type.Enum([...channels], { title: "Channel" });
export const status = Type.Enum([...statuses], { title: "ConversationStatus" });
export const slaState = Type.Enum([...slaStates], { title: "SlaState" });
export const confidence = Type.Enum([...confidences], { title: "Confidence" });
export const priority = Type.Enum([...priorities], { title: "Priority" });

/** Only checks for one @: which addresses exist is up to mail servers. */
export const emailAddress = Type.String({
  minLength: 3,
  maxLength: 190,
  pattern: "^[^\\s@]+@[^\\s@]+$",
  allowed: "an e-mail address",
});

export const noteText = Type.String({
  minLength: 1,
  maxLength: 20_000,
  pattern: "\\S",
  allowed: "a text of 1 to 20,000 characters",
});

/** Longer than a tag may be, because `normalTags` trims before it counts. */
export const tag = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "\\S",
  allowed: "a string of 1 to 64 characters",
});

/** Tags of one conversation. `normalTags` counts them after it has removed duplicates. */
export const tagList = (description: string) => Type.Array(tag, { maxItems: 1_000, description });

export const listLimit = (standard: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: standard }));
export const listCursor = Type.Optional(Type.String({ description: "`next_cursor` of the page before" }));

export const source = Type.Object(
  {
    title: Type.String(),
    url: Type.String({ description: "Empty for an uploaded file that has no address" }),
    chunk: Type.String({ description: "The exact text of the passage" }),
    score: Type.Number(),
  },
  { title: "Source" },
);

const attachment = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    media_type: Type.String({ description: "Detected from the bytes; until they are stored, as sent" }),
    bytes: nullable(Type.Integer()),
    state: Type.Enum(["pending", "stored", "failed"]),
    error: nullable(Type.String({ description: "Why it could not be fetched" })),
    url: nullable(Type.String({ description: "Link to the file, valid for an hour; null until it is stored" })),
  },
  { title: "Attachment" },
);

export const message = Type.Object(
  {
    id: Type.String(),
    role: Type.Enum(["user", "assistant", "agent"]),
    content: Type.String(),
    created_at: time,
    author: Type.Optional(nullable(Type.String({ description: "The agent's address" }))),
    author_name: Type.Optional(nullable(Type.String())),
    attachments: Type.Optional(Type.Array(attachment, { description: "Files that came with it" })),
    metadata: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        type: "object",
        additionalProperties: true,
        description: "Metadata of a customer's message",
      }),
    ),
    refers_to: Type.Optional(
      Type.Object(
        {
          message_id: nullable(Type.String({ description: "A message of this conversation; null: not known here" })),
          text: nullable(Type.String({ description: "The part that the customer quotes, or a text not known here" })),
        },
        { title: "Reference", description: "The earlier message that the customer answers on the platform" },
      ),
    ),
    forwarded: Type.Optional(
      Type.Object(
        { from: nullable(Type.String({ description: "Their author, as the platform names them; null: it does not" })) },
        {
          title: "Forward",
          description: "The customer has forwarded somebody else's words. Absent: they are their own",
        },
      ),
    ),
    reactions: Type.Optional(
      Type.Array(
        Type.Object(
          {
            emoji: Type.String({ description: "A platform's own picture has a name, such as `:party:`" }),
            author: nullable(Type.String({ description: "The agent's address, or the customer's name" })),
            role: Type.Enum(["user", "agent"]),
          },
          { title: "Reaction" },
        ),
        { description: "Reactions to the message on its platform, oldest first. Absent: none" },
      ),
    ),
    sources: Type.Optional(Type.Array(source)),
    tokens_used: Type.Optional(Type.Integer()),
    confidence: Type.Optional(nullable(confidence)),
    skills_fired: Type.Optional(Type.Array(Type.String())),
    edited_at: Type.Optional(time),
    deleted_at: Type.Optional(time),
  },
  { title: "Message" },
);

export const contactFields = {
  id: Type.String(),
  workspace_id: Type.String(),
  name: nullable(Type.String()),
  email: nullable(Type.String()),
  phone: nullable(Type.String()),
  user_id: nullable(Type.String({ description: "Your own id of the customer, once proven" })),
  verified: Type.Array(Type.Enum(["name", "email", "phone"]), {
    description: "Values that your company or the customer's platform vouches for; the others are claims",
  }),
  attributes: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: "object",
    additionalProperties: true,
    description: "Attributes that your company has signed or sent",
  }),
  created_at: time,
  updated_at: time,
};

export const contactItem = Type.Object(contactFields, { title: "ContactItem" });

export const note = Type.Object(
  {
    id: Type.String(),
    conversation_id: Type.String(),
    content: Type.String(),
    author: Type.String(),
    created_at: time,
  },
  { title: "Note" },
);

export const actor = Type.Object(
  {
    type: Type.Enum(["customer", "assistant", "agent", "api_key", "system"]),
    id: nullable(Type.String()),
    name: nullable(Type.String()),
  },
  { title: "Actor" },
);

const auditEntry = Type.Object(
  {
    id: Type.String(),
    action: Type.Enum([...auditActions]),
    actor,
    from: nullable(Type.String()),
    to: nullable(Type.String()),
    detail: nullable(Type.String()),
    created_at: time,
  },
  { title: "AuditEntry" },
);

const listItem = {
  id: Type.String(),
  workspace_id: Type.String(),
  channel,
  status,
  started_at: time,
  last_message_at: time,
  message_count: Type.Integer(),
  customer: Type.Object(
    { email: nullable(Type.String()), name: nullable(Type.String()), phone: nullable(Type.String()) },
    { title: "Customer" },
  ),
  tags: Type.Array(Type.String()),
  sla_state: slaState,
  assigned_to: nullable(Type.String()),
  priority,
  contact_id: Type.String(),
  previous_conversation_id: nullable(Type.String()),
};

export const conversationItem = Type.Object(listItem, { title: "ConversationItem" });

export const conversation = Type.Object(
  {
    ...listItem,
    resolved_at: Type.Optional(time),
    snoozed_until: Type.Optional(nullable(time)),
    messages: Type.Array(message),
    internal_notes: Type.Array(note),
    audit_log: Type.Array(auditEntry),
  },
  { title: "Conversation" },
);

export const pagination = Type.Object(
  { next_cursor: Type.String(), has_more: Type.Boolean() },
  { title: "Pagination" },
);

export const documentStatus = Type.Enum(["pending", "processing", "indexed", "failed"], { title: "DocumentStatus" });

export const document = Type.Object(
  {
    id: Type.String(),
    workspace_id: Type.String(),
    source: Type.Enum(["crawl", "upload"]),
    title: Type.String(),
    url: nullable(Type.String()),
    status: documentStatus,
    error: nullable(
      Type.String({ description: "Why it could not be read; with status `indexed`: why the last crawl failed" }),
    ),
    chunks: Type.Integer(),
    pages: Type.Integer(),
    audience: Type.Array(Type.String()),
    created_at: time,
    indexed_at: nullable(time),
    crawled_at: Type.Optional(
      nullable(
        Type.String({
          format: "date-time",
          description: "Website: end of the last crawl; null during a crawl",
        }),
      ),
    ),
  },
  { title: "Document" },
);

export const oneDocument = Type.Object({ document }, { title: "DocumentResult" });

export const audience = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 50,
  allowed: "an array of audience tags",
});

/** Errors of every route below /v1. A request without the Host header is `missing_field`. */
const everywhere = [
  "missing_field",
  "invalid_parameter",
  "missing_auth",
  "malformed_auth",
  "invalid_key",
  "expired_key",
  "workspace_not_found",
  "not_found",
  "method_not_allowed",
  "rate_limit_minute",
  "rate_limit_day",
  "too_many_concurrent_requests",
  "internal_error",
  "upstream_timeout",
  "deploying",
  "feature_not_in_plan",
] as const satisfies readonly ProblemCode[];

export const withBody = [
  "invalid_json",
  "payload_too_large",
  "unsupported_media_type",
  "request_timeout",
  "overloaded",
] as const satisfies readonly ProblemCode[];

export const withWorkspaceId = [
  "invalid_workspace_id",
  "workspace_access_denied",
] as const satisfies readonly ProblemCode[];

/** The responses of a route: the successful ones, and one for each status of its error codes. */
export function responses(
  success: Readonly<Record<number, TSchema>>,
  codes: readonly ProblemCode[],
): Record<number, TSchema> {
  const byStatus = new Map<number, Set<ProblemCode>>();
  for (const code of [...codes, ...everywhere]) {
    const at = problemStatus[code];
    byStatus.set(at, (byStatus.get(at) ?? new Set()).add(code));
  }
  const failures = [...byStatus].map(([at, codesOf]): [number, TSchema] => [
    at,
    Type.Object(
      { detail: Type.String(), code: Type.Enum([...codesOf]), request_id: Type.String() },
      { description: [...codesOf].map((code) => `\`${code}\``).join(", ") },
    ),
  ]);
  return { ...success, ...Object.fromEntries(failures) };
}

export const noContent = Type.Null({ description: "No body" });

import { Type } from "typebox";
import type { Example } from "./examples.ts";
import { examples } from "./examples.ts";
import type { Components, Schema } from "./components.ts";
import { hoist, resolve } from "./components.ts";
import { describeOAuth } from "./oauth.ts";
import { describeWebhooks } from "./webhooks.ts";
import { answerSchema } from "#http/v1/query/schemas.ts";

/** The parts of the document that the routes' schemas do not have. */
export interface ApiDocument {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, object>;
  components?: { schemas?: Components };
}

interface Operation {
  operationId?: string;
  security?: object[];
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: ApiResponse;
  responses?: Record<string, ApiResponse>;
}

interface Parameter {
  name: string;
  in: string;
  description?: string;
  example?: unknown;
  schema?: object;
}

interface ApiResponse {
  description?: string;
  headers?: Record<string, unknown>;
  "x-error-codes"?: unknown[];
  content?: Record<string, { schema?: Schema; example?: unknown }>;
}

const integer = (description: string): object => ({ description, schema: { type: "integer", minimum: 0 } });

/** Headers of responses, by the name that their component has. */
export const responseHeaders = {
  "X-Request-Id": {
    description: "Id of this request, in the server's log and in error bodies",
    schema: { type: "string", pattern: "^req_" },
  },
  "X-RateLimit-Limit-Minute": integer("Requests per minute of this key; 0 without a valid key"),
  "X-RateLimit-Remaining-Minute": integer("Remaining requests of this minute"),
  "X-RateLimit-Limit-Day": integer("Requests per UTC day of this key; 0 without a valid key"),
  "X-RateLimit-Remaining-Day": integer("Remaining requests until midnight UTC"),
  "X-RateLimit-Reset-Day": integer("End of the UTC day, in Unix seconds"),
  "Retry-After": { description: "Seconds to wait before a retry", schema: { type: "integer", minimum: 1 } },
  Allow: { description: "Methods of this path", schema: { type: "string" } },
  "Idempotency-Replayed": {
    description: "Present if this is the stored response to an earlier request with the same Idempotency-Key",
    schema: { type: "string", const: "true" },
  },
} as const;

const everywhere = [
  "X-Request-Id",
  "X-RateLimit-Limit-Minute",
  "X-RateLimit-Remaining-Minute",
  "X-RateLimit-Limit-Day",
  "X-RateLimit-Remaining-Day",
  "X-RateLimit-Reset-Day",
] as const;

const parameterMeaning: Readonly<Record<string, string>> = {
  id: "The entry's id, as its list has it",
  cursor: "`next_cursor` of the page before",
  conversation_id: "Id of the conversation, `conv_…`",
  contact_id: "Id of the contact, `con_…`",
  message_id: "Id of the customer's message, `msg_…`",
  document_id: "Id of the document, `doc_…`",
  workspace_id: "Id of the workspace, `wt_…`; it must be the one that the API key belongs to",
  limit: "Maximum number of entries on the page",
  channel: "Only conversations of this channel",
  status: "Only entries with this status",
  email: "Only conversations of the customer with this e-mail address, whatever its capitals",
  sla_state: "Only conversations with this SLA state at the time of the request",
  order: "`asc`: oldest first; `desc`: newest first",
};

const fieldMeaning: Readonly<Record<string, string>> = {
  workspace_id: "Id of the workspace, `wt_…`; it must be the one that the API key belongs to",
  user: "The customer who asks",
  user_id: "Your own id of the customer; without a proof it is used for limits only",
  name: "The customer's name",
  email: "The customer's e-mail address",
  document_ids: "Answers only from these documents",
  top_k: "Maximum number of passages for the answer",
  temperature: "The language model's freedom of wording",
  strictness: "`strict`: answers only when sure; `helpful`: also when the passage may be right",
  audience: "Answers also from documents with these tags, in addition to those for everyone",
  content: "The text, in Markdown",
  author_email: "E-mail address of the acting agent",
  assigned_to: "The agent's e-mail address",
  action: "The change of each conversation",
  conversation_ids: "Ids of the conversations, `conv_…`",
  status: "The new status",
  priority: "Priority, which sets the SLA target",
  snooze_hours: "Hours until the snooze ends",
  snooze_until_reply: "Snoozes until the customer writes",
  tags: "Trimmed and in lower case",
};

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A value of your own, the same on each retry. For 24 hours, a repeated request gets the stored response and is counted once",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
};

/** One event of the stream; `data` is JSON on one line. */
const streamEvent = Type.Union(
  [
    Type.Object(
      { event: Type.Literal("token"), data: Type.Object({ delta: Type.String({ description: "Markdown" }) }) },
      { title: "TokenEvent" },
    ),
    Type.Object({ event: Type.Literal("done"), data: answerSchema }, { title: "DoneEvent" }),
    Type.Object(
      { event: Type.Literal("error"), data: Type.Ref("#/components/schemas/Error") },
      { title: "ErrorEvent" },
    ),
  ],
  { title: "QueryStreamEvent", description: "One server-sent event; its `data` is JSON on one line" },
);

const uploadForm: ApiResponse & { readonly required: boolean } = {
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        title: "NewFile",
        type: "object",
        required: ["file"],
        properties: {
          file: { type: "string", format: "binary", description: "At most 25 MB, with its file name" },
          workspace_id: { type: "string", description: "If sent, it must be the key's own" },
          audience: { type: "string", description: "Tags, separated by commas; empty: for everyone" },
        },
      },
    },
  },
};

/** Access tokens open these paths, and their fields have meanings of their own. */
const isAdministration = (path: string): boolean => path.startsWith("/admin/");

/** Adds names, headers, examples, events and non-JSON bodies to the document made of the routes' schemas. */
export function completeApi(document: ApiDocument): void {
  const components: Components = { ...document.components?.schemas };
  const bodies: { readonly schema: Schema; readonly isDescribed: boolean }[] = [];
  const named = <T>(value: T): T => hoist(value, components);
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations)) {
      const example = examples[`${method.toUpperCase()} ${path}`];
      if (operation.operationId === undefined) throw new Error(`${method} ${path} has no operationId`);
      if (isAdministration(path)) operation.security = [{ accessToken: [] }];
      if (path.endsWith("/v1/documents/upload")) operation.requestBody = structuredClone(uploadForm);
      completeResponses(path, operation, example);
      withoutOwnKeywords(operation);
      const body = Object.values(operation.requestBody?.content ?? {})[0];
      if (body !== undefined) {
        onlyNamedFields(body.schema);
        body.schema = named(body.schema ?? {});
        bodies.push({ schema: body.schema, isDescribed: isAdministration(path) });
        const given = example?.body ?? example?.form;
        if (given !== undefined) body.example = given;
      }
      for (const { content = {} } of Object.values(operation.responses ?? {})) {
        for (const each of Object.values(content)) each.schema = named(each.schema ?? {});
      }
      completeParameters(operation, example);
      for (const each of operation.parameters ?? []) each.schema = named(each.schema ?? {});
    }
  }
  // After all are named, because bodies share schemas.
  for (const { schema, isDescribed } of bodies) {
    const body = resolve(schema, components);
    if (!isDescribed) describeFields(body, components);
    stateDefaults(body, components);
  }
  document.paths = { ...document.paths, ...named(structuredClone(describeOAuth())) };
  document.webhooks = named(structuredClone(describeWebhooks()));
  document.components = { ...document.components, schemas: components };
}

/** Marks unknown fields as refused, except in objects without named fields. */
function onlyNamedFields(schema: Schema | undefined): void {
  if (schema?.properties !== undefined) schema.additionalProperties = false;
  for (const field of Object.values(schema?.properties ?? {})) onlyNamedFields(field.items ?? field);
}

function completeParameters(operation: Operation, example: Example | undefined): void {
  const parameters = operation.parameters ?? [];
  for (const each of parameters) {
    const meaning = parameterMeaning[each.name];
    if (each.description === undefined && meaning !== undefined) each.description = meaning;
    const value = example?.parameters?.[each.name];
    if (value !== undefined) each.example = value;
  }
  if (isIdempotent(operation)) parameters.push(idempotencyKey);
  if (parameters.length > 0) operation.parameters = parameters;
}

/** Operations that can fail with `duplicate_request_id` accept an Idempotency-Key. */
function isIdempotent(operation: Operation): boolean {
  return JSON.stringify(operation.responses?.["409"] ?? {}).includes('"duplicate_request_id"');
}

function completeResponses(path: string, operation: Operation, example: Example | undefined): void {
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    const names: (keyof typeof responseHeaders)[] = [...everywhere];
    if (status === "429" || status === "503") names.push("Retry-After");
    if (status === "405") names.push("Allow");
    if (status.startsWith("2") && isIdempotent(operation)) names.push("Idempotency-Replayed");
    response.headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
    if (status === "204") delete response.content;
    if (status.startsWith("2") && response.description === "Default Response") response.description = "Success";
    if (path === "/v1/query/stream" && status === "200") {
      response.content = { "text/event-stream": { schema: structuredClone(streamEvent) as Schema } };
    }
    const file = Object.values(response.content ?? {})[0];
    const mediaType = file?.schema?.contentMediaType;
    if (file !== undefined && mediaType !== undefined) response.content = { [mediaType]: file };
    const content = Object.values(response.content ?? {})[0];
    if (!status.startsWith("2") && content !== undefined) {
      response["x-error-codes"] = content.schema?.properties?.["code"]?.enum ?? [];
      content.schema = { $ref: "#/components/schemas/Error" };
    }
    if (status.startsWith("2") && content !== undefined && example?.response !== undefined) {
      content.example = example.response;
    }
  }
}

function describeFields(schema: Schema | undefined, components: Components): void {
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const meaning = fieldMeaning[name];
    if (field.description === undefined && meaning !== undefined) field.description = meaning;
    describeFields(resolve(field.items ?? field, components), components);
  }
}

/** Moves the defaults of a request to the descriptions: generators of clients make fields with a default required. */
function stateDefaults(schema: Schema | undefined, components: Components): void {
  for (const field of Object.values(schema?.properties ?? {})) {
    if (field.default !== undefined) {
      const stated = `Default: ${String(field.default)}`;
      field.description = field.description === undefined ? stated : `${field.description}. ${stated}`;
      delete field.default;
    }
    stateDefaults(resolve(field.items ?? field, components), components);
  }
}

/** Removes `allowed`, a keyword of our own for error messages. */
function withoutOwnKeywords(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if ("allowed" in value && typeof value.allowed === "string") delete value.allowed;
  for (const inner of Object.values(value)) withoutOwnKeywords(inner);
}

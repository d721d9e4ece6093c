import { Type } from "typebox";
import type { Example } from "./examples.ts";
import { examples } from "./examples.ts";
import type { Components, Schema } from "./components.ts";
import { hoist, resolve } from "./components.ts";
import { describeWebhooks } from "./webhooks.ts";
import { answerSchema } from "#http/v1/query.ts";

/** The parts of the document that are completed here: what no JSON schema of a route says. */
export interface ApiDocument {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, object>;
  components?: { schemas?: Components };
}

interface Operation {
  operationId?: string;
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
    description: "Names this request in the server's log and in error bodies",
    schema: { type: "string", pattern: "^req_" },
  },
  "X-RateLimit-Limit-Minute": integer("Requests that the key may make in a minute; 0 where no key was recognised"),
  "X-RateLimit-Remaining-Minute": integer("What is left of them in this minute"),
  "X-RateLimit-Limit-Day": integer("Requests that the key may make in a day; 0 where no key was recognised"),
  "X-RateLimit-Remaining-Day": integer("What is left of them until midnight UTC"),
  "X-RateLimit-Reset-Day": integer("When the day ends, in Unix seconds"),
  "Retry-After": { description: "Seconds to wait before the next try", schema: { type: "integer", minimum: 1 } },
  Allow: { description: "The methods that this path has", schema: { type: "string" } },
  "Idempotency-Replayed": {
    description: "Present where this is the stored response to an earlier request with the same Idempotency-Key",
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
  conversation_id: "Id of the conversation, `conv_…`",
  document_id: "Id of the document, `doc_…`",
  workspace_id: "Id of the workspace, `wt_…`; it must be the one that the API key belongs to",
  limit: "How many entries a page may have",
  channel: "Only conversations that came in by this channel",
  status: "Only what has this status",
  email: "Only conversations of the customer with this address, in upper or lower case",
  sla_state: "Only conversations whose time for a human answer stands so at this moment",
  order: "`asc`: oldest first; `desc`: newest first",
};

const fieldMeaning: Readonly<Record<string, string>> = {
  workspace_id: "Id of the workspace, `wt_…`; it must be the one that the API key belongs to",
  user: "Who asks",
  user_id: "Your own id of the customer; without a proof it counts for limits only",
  name: "The customer's name",
  email: "The customer's e-mail address",
  document_ids: "Only these documents may support the answer",
  top_k: "How many passages may support the answer",
  temperature: "How freely a language model may word the answer",
  strictness: "`strict`: only what the documents say; `helpful`: the nearest thing that they say",
  audience: "Tags whose documents may be used, beside those for everyone",
  content: "The text, in Markdown",
  author_email: "The agent who acts",
  assigned_to: "The agent's e-mail address",
  action: "What to do to each of them",
  conversation_ids: "Ids of the conversations, `conv_…`",
  status: "The new status",
  priority: "How soon a person should answer",
  snooze_hours: "For so long",
  snooze_until_reply: "Until the customer writes",
  tags: "Trimmed and in lower case",
};

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A value of your own, the same on each retry: within 24 hours the same request gives the stored response, and is counted once",
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

/** Adds names, headers, examples, events and the bodies that are not JSON to what the routes' schemas give. */
export function completeApi(document: ApiDocument): void {
  const components: Components = { ...document.components?.schemas };
  const bodies: Schema[] = [];
  const named = <T>(value: T): T => hoist(value, components);
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations)) {
      const example = examples[`${method.toUpperCase()} ${path}`];
      if (operation.operationId === undefined) throw new Error(`${method} ${path} has no operationId`);
      if (path === "/v1/documents/upload") operation.requestBody = structuredClone(uploadForm);
      completeResponses(path, operation, example);
      withoutOwnKeywords(operation);
      const body = Object.values(operation.requestBody?.content ?? {})[0];
      if (body !== undefined) {
        onlyNamedFields(body.schema);
        body.schema = named(body.schema ?? {});
        bodies.push(body.schema);
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
  // Once all are named: the same schema stands in several bodies.
  for (const body of bodies) describeFields(resolve(body, components), components);
  document.webhooks = named(structuredClone(describeWebhooks()));
  document.components = { ...document.components, schemas: components };
}

/** Fields that are not named are refused; objects without named fields are free. */
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

/** What may be refused for its key is what takes one. */
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

/** `allowed` is for our own error messages, and nothing that JSON Schema has. */
function withoutOwnKeywords(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if ("allowed" in value && typeof value.allowed === "string") delete value.allowed;
  for (const inner of Object.values(value)) withoutOwnKeywords(inner);
}

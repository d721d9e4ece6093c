import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventTypes } from "#domain/event-types.ts";
import { problemStatus } from "#domain/problem.ts";
import { dereference } from "./components.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { TestHttp } from "#test/support/http/http-server.ts";
import { startHttp } from "#test/support/http/http-server.ts";

interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Body {
  readonly description?: string;
  readonly headers?: object;
  readonly "x-error-codes"?: readonly string[];
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation {
  readonly operationId: string;
  readonly security?: unknown;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Content & {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly required?: boolean;
  })[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: object;
    readonly headers: object;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly security: unknown;
  readonly tags: readonly { readonly name: string }[];
}

let http: TestHttp;
let text: string;
let api: OpenApi;
beforeAll(async () => {
  http = await startHttp(newSqlite);
  text = await (await fetch(`${http.url}/openapi.json`)).text();
  api = dereference(JSON.parse(text) as OpenApi);
});
afterAll(() => http.close());

const allOperations = (): (Operation & { readonly name: string; readonly path: string })[] =>
  Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      name: `${method.toUpperCase()} ${path}`,
    })),
  );

const isOAuth = ({ tags }: Operation): boolean => tags.includes("OAuth");
/** Routes whose errors are Problems. */
const operations = () => allOperations().filter((operation) => !isOAuth(operation));

const streamed = (example: string): readonly object[] =>
  [...example.matchAll(/^event: (.+)\ndata: (.+)$/gm)].map(([, event, data = ""]) => ({
    event,
    data: JSON.parse(data) as unknown,
  }));

/** The operations that API keys open. */
const keyed = () => operations().filter(({ path }) => path.startsWith("/v1/"));

it("describes every operation of the API", () => {
  expect(api.openapi).toBe("3.1.0");
  const names = keyed().map(({ name }) => name);
  expect(names.toSorted()).toEqual([
    "DELETE /v1/conversations/{conversation_id}",
    "DELETE /v1/documents/{document_id}",
    "GET /v1/analytics",
    "GET /v1/contacts",
    "GET /v1/contacts/{contact_id}",
    "GET /v1/conversations",
    "GET /v1/conversations/{conversation_id}",
    "GET /v1/conversations/{conversation_id}/messages",
    "GET /v1/documents",
    "GET /v1/documents/{document_id}",
    "PATCH /v1/conversations/{conversation_id}",
    "POST /v1/conversations/bulk",
    "POST /v1/conversations/{conversation_id}/messages",
    "POST /v1/conversations/{conversation_id}/notes",
    "POST /v1/documents/crawl",
    "POST /v1/documents/upload",
    "POST /v1/documents/{document_id}/recrawl",
    "POST /v1/query",
    "POST /v1/query/stream",
    "PUT /v1/conversations/{conversation_id}/messages/{message_id}/reaction",
  ]);
});

it("lists the error codes of each operation, and all codes in total", () => {
  const listed = new Set<string>();
  for (const { responses } of operations()) {
    for (const [status, response] of Object.entries(responses)) {
      const codes = response["x-error-codes"] ?? [];
      expect(codes.length > 0).toBe(!status.startsWith("2"));
      for (const code of codes) {
        expect(problemStatus).toHaveProperty(code, Number(status));
        listed.add(code);
      }
    }
  }
  expect([...listed].toSorted()).toEqual(Object.keys(problemStatus).toSorted());
});

it("says that administration needs an access token, and never an API key", () => {
  const administration = operations().filter(({ path }) => path.startsWith("/admin/v1/"));
  expect(administration.length).toBeGreaterThan(0);
  for (const { security, tags } of administration) {
    expect([security, tags]).toEqual([[{ accessToken: [] }], ["Administration"]]);
  }
  expect(keyed().filter(({ security }) => security !== undefined)).toEqual([]);
});

it("names the headers of every response", () => {
  for (const { name, responses, parameters = [] } of operations()) {
    const isIdempotent = parameters.some((each) => each.in === "header" && each.name === "Idempotency-Key");
    expect([name, isIdempotent]).toEqual([name, /^(?:POST|PATCH) \/v1\/(?!documents)/.test(name)]);
    for (const [status, { headers = {} }] of Object.entries(responses)) {
      expect(Object.keys(headers)).toEqual([
        "X-Request-Id",
        "X-RateLimit-Limit-Minute",
        "X-RateLimit-Remaining-Minute",
        "X-RateLimit-Limit-Day",
        "X-RateLimit-Remaining-Day",
        "X-RateLimit-Reset-Day",
        ...(["429", "503"].includes(status) ? ["Retry-After"] : []),
        ...(status === "405" ? ["Allow"] : []),
        ...(status.startsWith("2") && isIdempotent ? ["Idempotency-Replayed"] : []),
      ]);
    }
  }
});

it("has an example of every request and response that its own schemas accept", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const accepts = (name: string, { schema = {}, example }: Content): void => {
    expect(example, name).toBeDefined();
    expect(ajv.validate(schema, example), `${name}: ${ajv.errorsText()}`).toBe(true);
  };
  for (const { name, parameters = [], requestBody, responses } of keyed()) {
    for (const each of parameters.filter((one) => one.required === true || one.example !== undefined))
      accepts(`${name} ${each.name}`, each);
    for (const content of Object.values(requestBody?.content ?? {})) accepts(name, content);
    for (const [status, { content = {} }] of Object.entries(responses)) {
      if (status === "204") expect(content).toEqual({});
      if (!status.startsWith("2")) continue;
      for (const [type, each] of Object.entries(content)) {
        if (type !== "text/event-stream") accepts(`${name} ${status}`, each);
        else for (const example of streamed(String(each.example))) accepts(name, { ...each, example });
      }
    }
  }
});

it("is a valid OpenAPI 3.1 document", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const ids = allOperations().map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(api.components.securitySchemes).toMatchObject({ apiKey: { type: "http", scheme: "bearer" } });
  expect(api.security).toEqual([{ apiKey: [] }]);
  for (const { name, path, tags, summary, parameters = [], requestBody, responses } of allOperations()) {
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(api.tags.map((tag) => tag.name)).toEqual(expect.arrayContaining([...tags]));
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, each]) => each);
    expect(parameters.filter((each) => each.in === "path").map((each) => each.name)).toEqual(inPath);
    for (const each of parameters) {
      expect(["path", "query", "header"]).toContain(each.in);
      expect(each.description, `${name} ${each.name}`).toMatch(/./);
      if (each.in === "path") expect(each.required).toBe(true);
    }
    const contents = [...Object.values(responses), requestBody ?? {}].flatMap(({ content = {} }) =>
      Object.values(content),
    );
    for (const { schema } of contents) expect(ajv.validateSchema(schema ?? {}), ajv.errorsText()).toBe(true);
    for (const { description } of Object.values(responses)) expect(description).toMatch(/./);
  }
  for (const [, ref = ""] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
    const [, kind, name] = /^#\/components\/(headers|schemas)\/(\w[\w-]*)$/.exec(ref) ?? [];
    expect(api.components[kind as "schemas"], ref).toHaveProperty([name ?? ""]);
  }
  expect(text).not.toContain('"allowed"');
});

it("names the types and functions of generated clients", () => {
  const named = (JSON.parse(text) as OpenApi).components.schemas;
  expect(Object.keys(named)).toEqual(
    expect.arrayContaining(
      "Answer Attachment AuditEntry Conversation ConversationItem Customer Document Error Message Note Pagination Query Source".split(
        " ",
      ),
    ),
  );
  expect(named["Conversation"]?.required).toEqual(expect.arrayContaining(["id", "status", "messages", "audit_log"]));
  expect(named["ConversationUpdate"]).toMatchObject({
    additionalProperties: false,
    properties: { status: { $ref: "#/components/schemas/ConversationStatus" } },
  });
  const ids = keyed().map(({ operationId }) => operationId);
  expect(ids.toSorted()).toEqual(
    "addNote bulkUpdateConversations crawlWebsite deleteConversation deleteDocument getContact getConversation getDocument listContacts listConversations listDocuments listMessages query readAnalytics recrawlWebsite sendReply setReaction streamQuery updateConversation uploadDocument".split(
      " ",
    ),
  );
  for (const methods of Object.values((JSON.parse(text) as OpenApi).paths)) {
    for (const { operationId, requestBody, responses } of Object.values(methods)) {
      const contents = [...Object.values(responses), requestBody ?? {}].flatMap(({ content = {} }) =>
        Object.values(content),
      );
      for (const { schema } of contents) expect(schema?.$ref, operationId).toMatch(/^#\/components\/schemas\/[A-Z]/);
    }
  }
});

it("describes how OAuth clients get and revoke tokens, as the server answers", async () => {
  const ajv = new Ajv2020({ strict: false });
  const of = (method: string, path: string) => {
    const operation = api.paths[path]?.[method];
    if (operation === undefined) throw new Error(`no ${path}`);
    return operation;
  };
  const accepts = (operation: Operation, status: number, body: unknown): void => {
    const { schema = {} } = Object.values(operation.responses[status]?.content ?? {})[0] ?? {};
    expect(ajv.validate({ ...schema, additionalProperties: false }, body), ajv.errorsText()).toBe(true);
  };
  const metadata = of("get", "/.well-known/oauth-authorization-server");
  accepts(metadata, 200, await (await fetch(`${http.url}/.well-known/oauth-authorization-server`)).json());
  for (const path of ["/oauth/token", "/oauth/revoke"]) {
    const operation = of("post", path);
    expect(Object.keys(operation.requestBody?.content ?? {})).toEqual(["application/x-www-form-urlencoded"]);
    const bodies = [new URLSearchParams({ grant_type: "client_credentials" }), new URLSearchParams("token=a&token=b")];
    for (const body of bodies) {
      const answer = await fetch(`${http.url}${path}`, { method: "POST", body });
      accepts(operation, answer.status, await answer.json());
    }
  }
});

it("describes every event as a webhook", () => {
  expect(Object.keys(api.webhooks).toSorted()).toEqual([...eventTypes, "webhook.test"].toSorted());
  for (const [type, { post }] of Object.entries(api.webhooks)) {
    const schema = Object.values(post.requestBody?.content ?? {})[0]?.schema;
    expect(schema?.properties?.["type"]?.enum).toContain(type);
    expect(post.operationId).toMatch(/^on[A-Z]\w+$/);
  }
});

it("names every code and its status", () => {
  for (const [code, status] of Object.entries(problemStatus)) expect(text).toContain(`\`${code}\` (${status})`);
});

it("names every code of each operation under its status", () => {
  for (const { responses, summary } of operations()) {
    expect(summary).toMatch(/./);
    for (const status of ["401", "404", "405", "429", "500", "503"]) expect(responses).toHaveProperty(status);
  }
});

it("describes the upload form and the stream of a query", () => {
  expect(text).toContain('"multipart/form-data":{"schema"');
  expect(text).toContain('"text/event-stream":{"schema"');
});

it("serves the reference as a page without scripts or external resources", async () => {
  const response = await fetch(`${http.url}/docs`);
  const html = await response.text();
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).not.toMatch(/<script|<link|<img|src=|url\(/);
  for (const code of Object.keys(problemStatus)) expect(html).toContain(`<code>${code}</code>`);
  for (const path of Object.keys(api.paths)) expect(html).toContain(path);
});

it("states the defaults of bodies in descriptions: generators of clients make fields with a default required", () => {
  const schemas = allOperations().flatMap(({ requestBody }) =>
    Object.values(requestBody?.content ?? {}).map(({ schema }) => JSON.stringify(schema)),
  );
  expect(schemas.length).toBeGreaterThan(20);
  expect(schemas.filter((schema) => schema.includes('"default":'))).toEqual([]);
  expect(schemas.join("\n")).toContain("Maximum number of passages for the answer. Default: 5");
});

import swagger from "@fastify/swagger";
import type { ProblemCode } from "#domain/problem.ts";
import { problemStatus } from "#domain/problem.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { problemCodes, problemMeaning } from "#http/problem.ts";
import { referencePage } from "./reference-page.ts";
import type { ApiDocument } from "./complete.ts";
import { completeApi, responseHeaders } from "./complete.ts";
import { dereference } from "./components.ts";
import type { App } from "#http/app-type.ts";

const introduction = `Every request carries \`Authorization: Bearer <API key>\`; a key belongs to one workspace.

Every response carries \`X-Request-Id\`, \`X-RateLimit-Limit-Minute\`, \`X-RateLimit-Remaining-Minute\`, \`X-RateLimit-Limit-Day\`, \`X-RateLimit-Remaining-Day\` and \`X-RateLimit-Reset-Day\`. Only requests that succeed count. A 429 carries \`Retry-After\` in seconds.

Every response that is not a 2xx has the body \`{detail, code, request_id}\`. Branch on \`code\`. Wait \`Retry-After\` after a 429; retry a 5xx with growing pauses; do not retry other 4xx.

An unknown query parameter or body field is refused with 422 \`invalid_parameter\`; \`detail\` names it and the nearest known one, or all known ones where none is near. Only \`metadata\` and \`user.attributes\` take any key.

A POST or PATCH with a JSON body to a query or a conversation may carry \`Idempotency-Key\` (1 to 255 visible ASCII characters, kept for 24 hours): the same request again then gives the same response, with the header \`Idempotency-Replayed: true\`. Where the first got no answer, the next goes on where it ended. Adding a document needs no key: the same document again changes nothing.

Lists are read page by page: pass \`pagination.next_cursor\` as \`cursor\` with the same filters, until \`has_more\` is false.`;

const securitySchemes = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "ak_<workspace>_<32 characters>",
    description: "An API key of the workspace; `parley key create` makes one. For servers only, never for browsers.",
  },
  oauthClient: {
    type: "http",
    scheme: "basic",
    description: "Id and secret of an OAuth client, made in the dashboard on the plan enterprise.",
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "pat_<40 characters>",
    description: "An access token of an admin, made in the dashboard. It opens `/admin/v1`, and never `/v1`.",
  },
} as const;

/** `/openapi.json` and `/docs`, both generated from the routes' schemas. Call it before the routes are declared. */
export async function describeApi(app: App, { options }: HttpDependencies): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Parley API", version: options.version, description: introduction },
      servers: [{ url: options.publicUrl }],
      components: {
        securitySchemes,
        headers: responseHeaders,
        schemas: {
          Error: {
            type: "object",
            required: ["detail", "code", "request_id"],
            properties: {
              detail: { type: "string", description: "For logs, not for end users" },
              code: { type: "string", enum: [...problemCodes], description: codeList() },
              request_id: { type: "string" },
            },
          },
        },
      },
      security: [{ apiKey: [] }],
      tags: [
        { name: "Query", description: "Ask a question and get an answer with its sources." },
        { name: "Conversations", description: "Read what customers, the bot and agents wrote, and act as an agent." },
        { name: "Contacts", description: "Read who the customers are." },
        { name: "Documents", description: "Manage the knowledge base that the bot answers from." },
        { name: "Analytics", description: "Read the numbers of the reports." },
        { name: "OAuth", description: "Get access tokens for an OAuth client. They open `/v1` like an API key." },
        { name: "Administration", description: "Run the workspace as its admin. Send an access token." },
      ],
      externalDocs: { description: "This reference as a page", url: `${options.publicUrl}/docs` },
    },
    hideUntagged: true,
    transformObject: (document) => {
      if (!("openapiObject" in document)) return document.swaggerObject;
      // The plugin's type lacks fields that the document has.
      completeApi(document.openapiObject as ApiDocument);
      return document.openapiObject;
    },
  });

  // Created at the first request; most processes get none.
  let text: string | undefined;
  let page: ReturnType<typeof referencePage> | undefined;

  app.get("/openapi.json", { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    return reply.header("content-type", "application/json; charset=utf-8").send(text);
  });

  app.get("/docs", { schema: { hide: true } }, async (_request, reply) => {
    page ??= referencePage(dereference(app.swagger()));
    return reply
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": page.policy,
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
      })
      .send(page.html);
  });
}

function codeList(): string {
  const line = (code: ProblemCode): string => `- \`${code}\` (${problemStatus[code]}): ${problemMeaning[code]}`;
  return problemCodes.map(line).join("\n");
}

import { afterAll, beforeAll, expect, it } from "vitest";
import { problemStatus } from "#domain/problem.ts";
import { newSqlite } from "../support/databases.ts";
import type { TestHttp } from "../support/http-server.ts";
import { startHttp } from "../support/http-server.ts";

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: object; readonly summary?: string }>>>
  >;
}

let http: TestHttp;
let text: string;
let api: OpenApi;
beforeAll(async () => {
  http = await startHttp(newSqlite);
  text = await (await fetch(`${http.url}/openapi.json`)).text();
  api = JSON.parse(text) as OpenApi;
});
afterAll(() => http.close());

it("describes every operation of the API", () => {
  expect(api.openapi).toBe("3.1.0");
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.toSorted()).toEqual([
    "DELETE /v1/conversations/{conversation_id}",
    "DELETE /v1/documents/{document_id}",
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
  ]);
});

it("names every code and its status", () => {
  for (const [code, status] of Object.entries(problemStatus)) expect(text).toContain(`\`${code}\` (${status})`);
});

it("names every code of each operation under its status", () => {
  for (const methods of Object.values(api.paths)) {
    for (const { responses, summary } of Object.values(methods)) {
      expect(summary).toMatch(/./);
      for (const status of ["401", "404", "405", "429", "500", "503"]) expect(responses).toHaveProperty(status);
    }
  }
});

it("describes the form of an upload and the stream of a query", () => {
  expect(text).toContain('"multipart/form-data":{"schema"');
  expect(text).toContain('"text/event-stream":{"schema"');
});

it("shows the reference as a page that loads nothing from elsewhere and runs nothing", async () => {
  const response = await fetch(`${http.url}/docs`);
  const html = await response.text();
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).not.toMatch(/<script|<link|<img|src=|url\(/);
  for (const code of Object.keys(problemStatus)) expect(html).toContain(`<code>${code}</code>`);
  for (const path of Object.keys(api.paths)) expect(html).toContain(path);
});

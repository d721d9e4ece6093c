import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "../support/app.ts";
import { startApp } from "../support/app.ts";
import { eachDatabase, newSqlite } from "../support/databases.ts";

eachDatabase("problems", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app.close());

  const query = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    app.post("/v1/query", body, { headers });

  it("gives every error a detail, a code and the request's id", async () => {
    for (const answered of [
      await app.get("/v1/nothing"),
      await app.get("/v1/nothing", { key: null }),
      await app.get("/nothing"),
      await query("{"),
      await app.call("PUT", "/v1/query"),
    ]) {
      expect(answered.body).toEqual({
        detail: expect.stringMatching(/./),
        code: expect.stringMatching(/^[a-z_]+$/),
        request_id: answered.headers.get("x-request-id"),
      });
      expect(answered.body.request_id).toMatch(/^req_[0-9a-z]{26}$/);
    }
  });

  it("writes the request's id into the log line of the request", async () => {
    const { headers } = await app.get("/v1/documents");
    const id = headers.get("x-request-id") ?? "";
    await expect.poll(() => app.logged.filter((line) => line.includes(id)).length).toBe(1);
  });

  it("takes no request id from outside", async () => {
    const { headers } = await app.get("/v1/documents", {
      headers: { "x-request-id": "req_mine", "request-id": "req_mine" },
    });
    expect(headers.get("x-request-id")).not.toBe("req_mine");
  });

  it.each([
    "/v1",
    "/v1/",
    "/v1/nothing",
    "/v1/conversations/a/b",
    "/v1/conversations/%ff",
    "/v1/%zz",
    "/v1/%ff",
    "/v1//query",
  ])("does not find %s", async (path) => {
    expect(await app.get(path)).toMatchObject({ status: 404, body: { code: "not_found" } });
  });

  it("finds no unknown path whatever the body is", async () => {
    expect(await app.post("/v1/nothing", "{", { headers: { "content-type": "text/x" } })).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
  });

  it.each([
    ["PUT", "/v1/query", "POST"],
    ["GET", "/v1/query", "POST"],
    ["POST", "/v1/conversations", "GET, HEAD"],
    ["OPTIONS", "/v1/conversations", "GET, HEAD"],
    ["POST", "/v1/conversations/conv_1", "DELETE, GET, HEAD, PATCH"],
    ["DELETE", "/v1/conversations/conv_1/notes", "POST"],
    ["PROPFIND", "/v1/documents", "GET, HEAD"],
  ])("answers %s %s with 405 and what is allowed", async (method, path, allow) => {
    const answered = await app.call(method, path, method === "GET" || method === "OPTIONS" ? {} : { body: {} });
    expect([answered.status, answered.body.code]).toEqual([405, "method_not_allowed"]);
    expect(answered.headers.get("allow")).toBe(allow);
    expect(answered.headers.get("x-ratelimit-limit-minute")).toBe("1000");
  });

  it("answers HEAD like GET, without a body", async () => {
    const answered = await app.call("HEAD", "/v1/documents");
    expect([answered.status, answered.body]).toEqual([200, ""]);
  });

  it.each(["{", '{"a":', "nonsense", "[1]", "5", '"text"', "null", "true", "", "{'a': 1}", "\u0000"])(
    "calls the body %j invalid JSON",
    async (body) => {
      expect(await query(body)).toMatchObject({ status: 400, body: { code: "invalid_json" } });
    },
  );

  it("refuses JSON that is nested without end", async () => {
    const deep = `{"workspace_id":"${app.workspace.id}","query":"Hi","metadata":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
    expect(await query(deep)).toMatchObject({ status: 400, body: { code: "invalid_json" } });
    const brackets = { workspace_id: app.workspace.id, query: "[{".repeat(400) };
    expect((await query(brackets)).status).toBe(200);
  });

  it("refuses a body of more than a mebibyte", async () => {
    const answered = await query(JSON.stringify({ query: "x".repeat(1_048_576) }));
    expect(answered).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  });

  it.each(["text/plain", "application/xml", "application/x-www-form-urlencoded", "nonsense"])(
    "refuses the type %s",
    async (type) => {
      const answered = await query('{"query":"x"}', { "content-type": type });
      expect(answered).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
    },
  );

  it("accepts JSON with a charset", async () => {
    const body = JSON.stringify({ workspace_id: app.workspace.id, query: "Grüße" });
    expect((await query(body, { "content-type": "application/json; charset=utf-8" })).status).toBe(200);
  });

  it("checks authentication, then the limit, then the body, then the workspace, then the rest", async () => {
    const { key } = await app.createKey({ limitMinute: 1 });
    const broken = (given: string | null, body: unknown) => app.post("/v1/query", body, { key: given });
    expect((await broken(null, "{")).body.code).toBe("missing_auth");
    expect((await broken(key, "{")).body.code).toBe("invalid_json");
    expect((await broken(key, { workspace_id: "x", top_k: 99 })).body.code).toBe("invalid_workspace_id");
    expect((await broken(key, { workspace_id: app.workspace.id, query: "x", top_k: 99 })).body.code).toBe(
      "invalid_top_k",
    );
    expect((await app.get("/v1/documents", { key })).status).toBe(200);
    expect((await broken(key, "{")).body.code).toBe("rate_limit_minute");
    expect((await app.get("/v1/nothing", { key })).body.code).toBe("rate_limit_minute");
  });

  it("lets no body reach a prototype", async () => {
    const body = `{"workspace_id":"${app.workspace.id}","query":"Hi","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"user":{"__proto__":{"polluted":1}},"metadata":{"__proto__":{"polluted":1}}}`;
    expect((await query(body)).status).toBe(200);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  });

  it("answers 503 when the database is gone, and says when to come again", async () => {
    const database = await open();
    if (database.url.startsWith("sqlite:")) return;
    const other = await startApp(async () => database);
    await other.store.write(async () => undefined);
    await (database.drop ?? database.remove)();
    const answered = await other.get("/v1/documents");
    expect(answered.status).toBeGreaterThanOrEqual(500);
    expect(answered.body.detail).not.toContain("parley_");
    await other.close().catch(() => undefined);
  });
});

it("tells of a full disk as of something that passes, and works again afterwards", async () => {
  const app = await startApp(newSqlite);
  const pages = (max: number) => app.store.write((tx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(tx));
  const ask = () => app.post("/v1/query", { workspace_id: app.workspace.id, query: "x".repeat(1_000) });
  // Not fewer than there are: the file cannot grow.
  await pages(1);
  let refused = await ask();
  for (let i = 0; i < 200 && refused.status === 200; i += 1) refused = await ask();
  expect(refused).toMatchObject({ status: 503, body: { code: "upstream_timeout" } });
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]/);
  await pages(1_000_000);
  expect((await ask()).status).toBe(200);
  await app.close();
});

import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { problemStatus } from "#domain/problem.ts";
import { eachContract } from "../support/http/contract.ts";

/** The contract's table of errors. */
const table = {
  missing_field: [400],
  invalid_workspace_id: [400],
  message_too_long: [400],
  invalid_json: [400],
  missing_auth: [401],
  malformed_auth: [401],
  invalid_key: [401],
  expired_key: [401],
  workspace_access_denied: [403],
  feature_not_in_plan: [403],
  verification_required: [403],
  workspace_not_found: [404],
  conversation_not_found: [404],
  document_not_found: [404],
  plan_downgrade_blocked: [409],
  duplicate_request_id: [409],
  invalid_top_k: [422],
  invalid_temperature: [422],
  invalid_strictness: [422],
  invalid_audience: [422],
  rate_limit_minute: [429],
  rate_limit_day: [429],
  quota_exhausted: [429],
  internal_error: [500],
  model_provider_error: [500],
  upstream_timeout: [502, 503],
  deploying: [502, 503],
  provider_down: [502, 503],
} as const;

eachContract("7 errors", (at) => {
  const question = () => ({ workspace_id: at.client.id, query: "Hello" });
  const query = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    at.client.post("/v1/query", body, { headers });

  it("7 documents every code of the table, with its status", () => {
    for (const [code, statuses] of Object.entries(table)) {
      expect([code, statuses]).toEqual([code, expect.arrayContaining([Reflect.get(problemStatus, code)])]);
    }
  });

  it("7 returns the request's id in the body and in a header, and logs it once", async () => {
    const { headers, body } = await at.client.get("/v1/conversations/conv_none");
    expect(headers.get("x-request-id")).toBe(body.request_id);
    const lines = () => at.app.logged.filter((line) => line.includes(body.request_id));
    await expect.poll(() => lines().length).toBe(1);
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({
      requestId: body.request_id,
      status: 404,
      path: "/v1/conversations/conv_none",
    });
  });

  it("7 gives every request an id of its own, successful ones included", async () => {
    const ids = await Promise.all(
      Array.from({ length: 10 }, async () => (await at.client.get("/v1/documents")).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(10);
  });

  it("7 ignores a client's request id", async () => {
    const headers = { "x-request-id": "req_mine", "request-id": "req_mine" };
    expect((await at.client.get("/v1/documents", { headers })).headers.get("x-request-id")).not.toBe("req_mine");
  });

  it.each([
    "/v1",
    "/v1/",
    "/v1/nothing",
    "/v1/Query",
    "/v1/documents/",
    "/v1/conversations/a/b",
    "/v1/conversations/a/messages/",
    "/v1/conversations/%ff",
    "/v1/%zz",
    "/v1/%ff",
    "/v1//query",
    "/v1/./query",
    "/v1/documents%2f",
    "/v1/documents;x=1",
    "/v1/..%2f..%2fetc%2fpasswd",
  ])("7 answers 404 at %s", async (path) => {
    const { status, body } = await at.client.get(path);
    // A conversation named "a/" is not found either.
    expect([status, body.code]).toEqual([
      expect.toSatisfy((value) => value === 404 || value === 405),
      expect.toSatisfy((code) => ["not_found", "document_not_found", "method_not_allowed"].includes(String(code))),
    ]);
  });

  it("7 answers 404 at an unknown path, whatever the body and the method", async () => {
    const headers = { "content-type": "text/x" };
    expect((await at.client.post("/v1/nothing", "{", { headers })).body.code).toBe("not_found");
    expect((await at.client.call("DELETE", "/v1/nothing")).body.code).toBe("not_found");
  });

  it.each([
    ["PUT", "/v1/query", "POST"],
    ["GET", "/v1/query", "POST"],
    ["HEAD", "/v1/query", "POST"],
    ["GET", "/v1/query/stream", "POST"],
    ["POST", "/v1/conversations", "GET, HEAD"],
    ["OPTIONS", "/v1/conversations", "GET, HEAD"],
    ["POST", "/v1/conversations/conv_1", "DELETE, GET, HEAD, PATCH"],
    ["DELETE", "/v1/conversations/conv_1/notes", "POST"],
    ["PROPFIND", "/v1/documents", "GET, HEAD"],
    ["GET", "/v1/documents/upload", "POST"],
    ["DELETE", "/v1/documents/crawl", "POST"],
    ["PUT", "/v1/documents/upload?x=1", "POST"],
    ["GET", "/v1/conversations/bulk", "POST"],
    ["PATCH", "/v1/conversations/bulk", "POST"],
  ])("7 answers %s %s with 405 and the allowed methods", async (method, path, allow) => {
    const answered = await at.client.call(method, path, ["PUT", "POST", "PATCH"].includes(method) ? { body: {} } : {});
    expect([answered.status, answered.headers.get("allow")]).toEqual([405, allow]);
    if (method !== "HEAD") expect(answered.body.code).toBe("method_not_allowed");
  });

  it("7 answers HEAD like GET, without the body", async () => {
    const id = await at.client.begin();
    for (const path of ["/v1/documents", `/v1/conversations?workspace_id=${at.client.id}`, `/v1/conversations/${id}`]) {
      const head = await at.client.call("HEAD", path);
      expect([path, head.status, head.text]).toEqual([path, 200, ""]);
      expect(head.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(head.headers.get("x-ratelimit-limit-minute")).toBe("1000");
    }
    expect((await at.client.call("HEAD", "/v1/conversations/conv_none")).status).toBe(404);
  });

  it.each([
    "{",
    '{"a":',
    "nonsense",
    "[1]",
    "5",
    '"text"',
    "null",
    "true",
    "",
    " ",
    "{'a': 1}",
    "\u0000",
    "{} {}",
    '{"a":1,}',
    "NaN",
  ])("7 refuses the body %j as invalid JSON", async (body) => {
    const { status, body: answered } = await query(body);
    expect([status, answered.code]).toEqual([400, "invalid_json"]);
  });

  it("7 refuses bytes that are not UTF-8", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`{"workspace_id":"${at.client.id}","query":"Hello `),
      Buffer.from([0xff, 0xfe, 0xc0]),
      Buffer.from('"}'),
    ]);
    expect((await query(bytes)).status).toBeLessThan(500);
  });

  it("7 accepts JSON after a byte order mark or refuses it as invalid", async () => {
    const body = `\uFEFF${JSON.stringify({ workspace_id: at.client.id, query: "Hello" })}`;
    expect([200, 400]).toContain((await query(body)).status);
  });

  it("7 takes the last of a duplicate field", async () => {
    const body = `{"workspace_id":"x","workspace_id":"${at.client.id}","query":"","query":"Hello"}`;
    expect((await query(body)).status).toBe(200);
  });

  it("7 refuses deeply nested JSON, and accepts brackets in a string", async () => {
    const deep = `{"workspace_id":"${at.client.id}","query":"Hi","metadata":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
    const { status, body } = await query(deep);
    expect([status, body.code]).toEqual([400, "invalid_json"]);
    expect((await at.client.ask({ query: "[{".repeat(400) })).status).toBe(200);
  });

  it.each(["gzip", "deflate", "br", "GZIP", "gzip, identity"])(
    "7 answers 415 to a body in the encoding %s",
    async (encoding) => {
      const headers = { "content-encoding": encoding };
      for (const [method, path] of [
        ["POST", "/v1/query"],
        ["PATCH", "/v1/conversations/conv_1"],
        ["DELETE", "/v1/conversations/conv_1"],
      ] as const) {
        const { status, body } = await at.client.call(method, path, { body: gzipSync("{}"), headers });
        expect([path, status, body.code]).toEqual([path, 415, "unsupported_media_type"]);
      }
      expect((await query(question(), { "content-encoding": "identity" })).status).toBe(200);
    },
  );

  it("7 answers 413 payload_too_large to a body of more than a mebibyte", async () => {
    const { status, body } = await query(JSON.stringify({ query: "x".repeat(1_048_576) }));
    expect([status, body.code]).toEqual([413, "payload_too_large"]);
  });

  it.each(["text/plain", "application/xml", "application/x-www-form-urlencoded", "nonsense", "application/jsonx"])(
    "7 answers 415 unsupported_media_type to %s",
    async (type) => {
      const { status, body } = await query('{"query":"x"}', { "content-type": type });
      expect([status, body.code]).toEqual([415, "unsupported_media_type"]);
    },
  );

  it.each(["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"])(
    "7 accepts the type %s",
    async (type) => {
      const body = JSON.stringify({ workspace_id: at.client.id, query: "Grüße" });
      expect((await query(body, { "content-type": type })).status).toBe(200);
    },
  );

  it("7 treats null as absent, and names the required field", async () => {
    const absent = await query({ workspace_id: at.client.id });
    const asNull = await query({ workspace_id: at.client.id, query: null });
    for (const { status, body } of [absent, asNull]) {
      expect([status, body.code, body.detail.includes("query")]).toEqual([400, "missing_field", true]);
    }
    const { status, body } = await query({ query: "x", top_k: 99 });
    expect([status, body.code, body.detail.includes("workspace_id")]).toEqual([400, "missing_field", true]);
  });

  const detailOf = (kind: string, unknown: string, nearest: string | undefined, known: readonly string[]) => {
    const hint =
      nearest !== undefined
        ? `The nearest known ${kind} is "${nearest}".`
        : known.length === 0
          ? `There is no ${kind} here.`
          : `Known here: ${known.map((each) => JSON.stringify(each)).join(", ")}.`;
    return `"${unknown}" is not a known ${kind}. ${hint}`;
  };

  it("7 refuses an unknown field, and suggests the nearest known one", async () => {
    const id = await at.client.begin();
    const bulk = { action: "resolve", conversation_ids: [id] };
    for (const [method, path, body, unknown, nearest] of [
      ["POST", "/v1/query", { workspace_id: at.client.id, querry: "x" }, "querry", "query"],
      ["POST", "/v1/query", { ...question(), user: { userid: "a" } }, "user.userid", "user.user_id"],
      ["POST", "/v1/query", { ...question(), topK: null }, "topK", "top_k"],
      ["POST", "/v1/query/stream", { ...question(), temprature: 1 }, "temprature", "temperature"],
      ["PATCH", `/v1/conversations/${id}`, { assignedTo: "kim@example.com" }, "assignedTo", "assigned_to"],
      [
        "PATCH",
        `/v1/conversations/${id}`,
        { internal_notes: [{ content: "a" }, { content: "b", author: "x" }] },
        "internal_notes[1].author",
        "internal_notes[1].author_email",
      ],
      ["POST", `/v1/conversations/${id}/notes`, { content: "a", autor_email: "a@b.c" }, "autor_email", "author_email"],
      ["POST", `/v1/conversations/${id}/messages`, { context: "a" }, "context", "content"],
      ["POST", "/v1/conversations/bulk", { ...bulk, tag: ["a"] }, "tag", "tags"],
      ["POST", "/v1/documents/crawl", { url: "http://a.example", max_page: 5 }, "max_page", "max_pages"],
    ] as const) {
      const answered = await at.client.call(method, path, { body });
      expect([unknown, answered.status, answered.body.code]).toEqual([unknown, 422, "invalid_parameter"]);
      expect(answered.body.detail).toBe(detailOf("field", unknown, nearest, []));
    }
    expect(await at.client.single(id)).toMatchObject({ status: "open", internal_notes: [], tags: [] });
  });

  it("7 refuses an unknown query parameter, and suggests the nearest known one", async () => {
    const id = await at.client.begin();
    for (const [method, path, unknown, nearest] of [
      ["GET", `/v1/conversations?workspace_id=${at.client.id}&stauts=open`, "stauts", "status"],
      ["GET", `/v1/conversations?workspace_id=${at.client.id}&Limit=5`, "Limit", "limit"],
      ["GET", `/v1/conversations/${id}/messages?ordre=desc`, "ordre", "order"],
      ["GET", "/v1/documents?state=indexed", "state", "status"],
      ["GET", `/v1/documents/doc_1?workspace=${at.client.id}`, "workspace", "workspace_id"],
      ["GET", `/v1/conversations/${id}?include=messages`, "include", undefined],
      ["POST", `/v1/query?workspace_id=${at.client.id}`, "workspace_id", undefined],
    ] as const) {
      const { status, body } = await at.client.call(method, path, method === "POST" ? { body: question() } : {});
      expect([unknown, status, body.code]).toEqual([unknown, 422, "invalid_parameter"]);
      expect(body.detail).toBe(detailOf("parameter", unknown, nearest, []));
    }
  });

  it("7 lists the known names if none is near", async () => {
    const id = await at.client.begin();
    const userFields = ["user_id", "hash", "user_token", "name", "email", "attributes"].map((each) => `user.${each}`);
    for (const [method, path, body, kind, unknown, known] of [
      ["DELETE", "/v1/documents/doc_1?force=true", undefined, "parameter", "force", ["workspace_id"]],
      [
        "GET",
        `/v1/conversations/${id}/messages?assigned_tp=x`,
        undefined,
        "parameter",
        "assigned_tp",
        ["limit", "cursor", "order"],
      ],
      ["POST", `/v1/conversations/${id}/notes`, { text: "a" }, "field", "text", ["content", "author_email"]],
      ["POST", "/v1/query", { ...question(), user: { role: "x" } }, "field", "user.role", userFields],
    ] as const) {
      const answered = await at.client.call(method, path, body === undefined ? {} : { body });
      expect([unknown, answered.status, answered.body.code]).toEqual([unknown, 422, "invalid_parameter"]);
      expect(answered.body.detail).toBe(detailOf(kind, unknown, undefined, known));
    }
  });

  it("7 refuses any field in a body that has none", async () => {
    const id = await at.client.in("claimed");
    const body = { content: "x" };
    const refused = await at.client.call("DELETE", `/v1/conversations/${id}`, { body });
    expect([refused.status, refused.body.code]).toEqual([422, "invalid_parameter"]);
    const recrawl = await at.client.post("/v1/documents/doc_1/recrawl", { max_pages: 5 });
    expect([recrawl.status, recrawl.body.code]).toEqual([422, "invalid_parameter"]);
    expect((await at.client.post("/v1/documents/doc_1/recrawl", [1])).body.code).toBe("invalid_json");
    expect((await at.client.post("/v1/documents/doc_1/recrawl", {})).body.code).toBe("document_not_found");
  });

  it("7 accepts any key in metadata and in the attributes of a user", async () => {
    const user = { user_id: "ada", hash: at.client.mac("ada"), attributes: { colour: "red", toString: "x" } };
    const metadata = { querry: 1, constructor: { a: [null] } };
    expect((await at.client.ask({ user, metadata })).status).toBe(200);
  });

  it("7 checks the key, the rate, the JSON, the workspace and then the rest", async () => {
    const { key } = await at.app.createKey({ limitMinute: 1 });
    const broken = async (given: string | null, body: unknown) =>
      (await at.app.post("/v1/query", body, { key: given })).body.code;
    const own = { workspace_id: at.client.id };
    expect(await broken(null, "{")).toBe("missing_auth");
    expect(await broken(key, "{")).toBe("invalid_json");
    expect(await broken(key, { workspace_id: "x", top_k: 99 })).toBe("invalid_workspace_id");
    expect(await broken(key, { workspace_id: (await at.fresh()).id, top_k: 99 })).toBe("workspace_access_denied");
    expect(await broken(key, { ...own, query: "x", top_k: 99 })).toBe("invalid_top_k");
    expect(await broken(key, { ...own, query: "x", conversation_id: "conv_none" })).toBe("conversation_not_found");
    expect((await at.app.get("/v1/documents", { key })).status).toBe(200);
    expect(await broken(key, "{")).toBe("rate_limit_minute");
    expect((await at.app.get("/v1/nothing", { key })).body.code).toBe("rate_limit_minute");
    expect(await broken(key, { workspace_id: "x" })).toBe("rate_limit_minute");
  });

  it("7 checks an unknown content type before the workspace, and after the key", async () => {
    const headers = { "content-type": "text/plain" };
    expect((await at.client.post("/v1/query", "x", { key: null, headers })).body.code).toBe("missing_auth");
    expect((await at.client.post("/v1/query", "x", { headers })).body.code).toBe("unsupported_media_type");
  });

  it("7 refuses a field named like a prototype's, and names it", async () => {
    const open = `{"workspace_id":"${at.client.id}","query":"Hi"`;
    for (const [rest, named] of [
      ['"__proto__":{"polluted":1}', "__proto__"],
      [String.raw`"__pr\u006fto__":null`, "__proto__"],
      ['"constructor":{"prototype":{"polluted":1}}', "constructor"],
      ['"user":{"__proto__":{"polluted":1}}', "user.__proto__"],
      ['"user":{"constructor":{"prototype":1}}', "user.constructor"],
    ] as const) {
      const { status, body } = await query(`${open},${rest}}`);
      expect([status, body.code]).toEqual([422, "invalid_parameter"]);
      expect(body.detail).toMatch(`"${named}" is not a known field. `);
    }
    const none = await at.client.post("/v1/documents/doc_1/recrawl", '{"__proto__":{}}');
    expect([none.status, none.body.code]).toEqual([422, "invalid_parameter"]);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  });

  it("7 keeps such names in metadata unchanged", async () => {
    const metadata = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const asked = await query(`{"workspace_id":"${at.client.id}","query":"Hi","metadata":${metadata}}`);
    expect(asked.status).toBe(200);
    const { body } = await at.client.get(`/v1/conversations/${asked.body.conversation_id}`);
    expect(JSON.stringify(body)).toContain(`"metadata":${metadata}`);
  });

  it("7.1 sends a Retry-After of at least one whole second with every 429", async () => {
    const { key } = await at.app.createKey({ limitMinute: 1 });
    await at.app.get("/v1/documents", { key });
    at.app.clock.advance(60_000 - (at.app.clock.now() % 60_000) - 1);
    await at.app.get("/v1/documents", { key });
    const refused = await at.app.get("/v1/documents", { key });
    const retryAfter = refused.headers.get("retry-after") ?? "";
    expect([refused.status, /^[1-9]\d*$/.test(retryAfter)]).toEqual([429, true]);
    expect(Object.keys(refused.body).toSorted()).toEqual(["code", "detail", "request_id"]);
  });

  it("7.3 does not count failed requests against the month's quota", async () => {
    const client = await at.fresh({ plan: "free" });
    await client.ask({ conversation_id: "conv_none" });
    await client.ask({ top_k: 99 });
    await client.ask({ query: "" });
    const used = await at.app.store.read
      .selectFrom("counters")
      .select("value")
      .where("name", "=", `queries:${client.id}`)
      .executeTakeFirst();
    expect(used?.value ?? 0).toBe(0);
  });
});

eachContract("7.4 Idempotency-Key", (at) => {
  const ask = (key: string, body: object = {}) => at.client.ask(body, { headers: { "idempotency-key": key } });

  it("7.4 repeats the stored response to the same request, and does nothing again", async () => {
    const first = await ask("a");
    const second = await ask("a");
    expect(second.body).toEqual(first.body);
    expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
    expect((await at.client.single(first.body.conversation_id)).message_count).toBe(2);
  });

  it("7.4 does not count a repeated response against the month's quota", async () => {
    const client = await at.fresh({ plan: "free" });
    const used = async () =>
      (
        await at.app.store.read
          .selectFrom("counters")
          .select("value")
          .where("name", "=", `queries:${client.id}`)
          .executeTakeFirst()
      )?.value ?? 0;
    for (let i = 0; i < 3; i += 1) {
      expect((await client.ask({}, { headers: { "idempotency-key": "k" } })).status).toBe(200);
      expect(await used()).toBe(1);
    }
    await client.ask();
    expect(await used()).toBe(2);
  });

  it("7.4 runs the request again without the header", async () => {
    const [first, second] = [await at.client.ask(), await at.client.ask()];
    expect(second.body.conversation_id).not.toBe(first.body.conversation_id);
  });

  it("7.4 answers 409 duplicate_request_id to another body under the same key", async () => {
    await ask("b");
    const { status, body } = await ask("b", { query: "Other" });
    expect([status, body.code]).toEqual([409, "duplicate_request_id"]);
  });

  it("7.4 stores no failed response", async () => {
    expect((await ask("c", { conversation_id: "conv_none" })).status).toBe(404);
    expect((await ask("c")).status).toBe(200);
  });

  it("7.4 stores a response for 24 hours", async () => {
    const first = await ask("d");
    at.app.clock.advance(24 * 3_600_000 - 1);
    expect((await ask("d")).headers.get("idempotency-replayed")).toBe("true");
    at.app.clock.advance(1);
    const again = await ask("d");
    expect(again.headers.get("idempotency-replayed")).toBeNull();
    expect(again.body.conversation_id).not.toBe(first.body.conversation_id);
  });

  it("7.4 separates the keys of two API keys, two workspaces and two paths", async () => {
    const first = await ask("e");
    const { key } = await at.app.createKey();
    const body = { workspace_id: at.client.id, query: "Hello" };
    const headers = { "idempotency-key": "e" };
    const otherKey = await at.app.post("/v1/query", body, { key, headers });
    expect(otherKey.headers.get("idempotency-replayed")).toBeNull();
    expect(otherKey.body.conversation_id).not.toBe(first.body.conversation_id);
    const stream = await at.client.post("/v1/query/stream", body, { headers });
    expect(stream.headers.get("idempotency-replayed")).toBeNull();
    expect((await (await at.fresh()).ask({}, { headers })).headers.get("idempotency-replayed")).toBeNull();
  });

  it("7.4 compares keys case-sensitively", async () => {
    await ask("Case");
    expect((await ask("case")).headers.get("idempotency-replayed")).toBeNull();
  });

  it("7.4 runs one of many concurrent requests with the same key", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask("f")));
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].every((status) => status === 200 || status === 409)).toBe(true);
    const conversations = answers.filter(({ status }) => status === 200).map(({ body }) => body.conversation_id);
    expect(new Set(conversations).size).toBe(1);
  });

  it.each(["notes", "messages"])("7.4 creates the same %s once", async (what) => {
    const id = await at.client.begin();
    const body = { content: "Only once", author_email: "kim@example.com" };
    const add = () =>
      at.client.post(`/v1/conversations/${id}/${what}`, body, {
        headers: { "idempotency-key": `once ${what}`.replace(" ", "-") },
      });
    const [first, second] = [await add(), await add()];
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
    const { internal_notes, messages } = await at.client.single(id);
    expect([...internal_notes, ...messages].filter(({ content }) => content === "Only once")).toHaveLength(1);
  });

  it.each(["", " ", "x".repeat(256), "with space", "grüße", "tab\tinside"])("7.4 refuses the key %j", async (key) => {
    const { status, body } = await ask(Buffer.from(key).toString("latin1"));
    expect([status, body.code]).toEqual([422, "invalid_parameter"]);
  });

  it("7.4 accepts a key of 255 characters", async () => {
    expect((await ask("~".repeat(255))).status).toBe(200);
  });
});

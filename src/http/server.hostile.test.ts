import { connect } from "node:net";
import type { Socket } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { startHttp } from "#test/support/http/http-server.ts";

describe("malformed requests", () => {
  let app: TestApp;
  let conversation: string;
  beforeAll(async () => {
    app = await startApp(newSqlite);
    const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello" });
    conversation = body.conversation_id;
    await app.store.write((tx) =>
      tx.updateTable("workspaces").set({ plan: "enterprise" }).where("id", "=", app.workspace.id).execute(),
    );
  });
  afterAll(() => app.close());

  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom(
      "",
      " ",
      "null",
      "\u0000",
      "' or 1=1 --",
      "💣",
      "\ud800",
      "../../etc/passwd",
      "%00",
      "a".repeat(5_000),
    ),
  );
  const value = fc.oneof(text, fc.jsonValue({ maxDepth: 4 }), fc.double(), fc.maxSafeInteger());
  // oxfmt-ignore
  const field = fc.constantFrom(
    "workspace_id", "query", "message", "conversation_id", "user", "user_id", "metadata", "document_ids", "top_k",
    "temperature", "strictness", "audience", "verification_token", "content", "author_email", "status", "tags",
    "assigned_to", "priority", "internal_notes", "snooze_hours", "snooze_until", "action", "conversation_ids",
    "__proto__", "constructor", "toString",
  );
  const path = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom("/v1/query", "/v1/query/stream", "/v1/conversations", "/v1/conversations/bulk"),
    },
    { weight: 2, arbitrary: fc.constantFrom("/v1/documents", "/v1/documents/upload", "/v1/documents/x") },
    {
      weight: 3,
      arbitrary: fc.constantFrom("", "/messages", "/notes").map((end) => `/v1/conversations/ID${end}`),
    },
    { weight: 1, arbitrary: text.map((part) => `/v1/conversations/${encodeURIComponent(part.toWellFormed())}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("/v1/%", "/v1/%zz", "/chat/%00", "/channels/telegram/x", "/widget/..%2f.."),
    },
  );
  const request = fc.record({
    method: fc.constantFrom("GET", "POST", "POST", "POST", "PATCH", "PUT", "DELETE"),
    path,
    query: fc.array(
      fc.tuple(
        fc.constantFrom("workspace_id", "channel", "tag", "since", "q", "limit", "cursor", "order", "email", "x"),
        text,
      ),
      { maxLength: 4 },
    ),
    ownWorkspace: fc.boolean(),
    body: fc.oneof(
      fc.dictionary(field, value, { maxKeys: 6 }).map((fields) => ({ kind: "fields" as const, fields })),
      text.map((raw) => ({ kind: "raw" as const, raw })),
    ),
    type: fc.oneof(
      { weight: 8, arbitrary: fc.constant("application/json") },
      {
        weight: 1,
        arbitrary: fc.constantFrom("text/plain", "multipart/form-data; boundary=x", "multipart/form-data", ";"),
      },
    ),
    idempotencyKey: fc.option(
      fc.string({ maxLength: 20 }).filter((key) => /^[\x20-\x7e]*$/.test(key)),
      { freq: 8 },
    ),
  });

  it("get a status below 500, in two thousand tries", { timeout: 120_000 }, async () => {
    const samples = fc.sample(request, { numRuns: 2_000, seed: 20_310_514 });
    const wrong: unknown[] = [];
    const one = async (sample: (typeof samples)[number]): Promise<void> => {
      const parameters = new URLSearchParams(sample.query.map(([name, given]) => [name, given]));
      const fields =
        sample.body.kind === "fields"
          ? { ...sample.body.fields, ...(sample.ownWorkspace ? { workspace_id: app.workspace.id } : {}) }
          : {};
      if (sample.ownWorkspace) parameters.set("workspace_id", app.workspace.id);
      const response = await fetch(`${app.url}${sample.path.replace("ID", conversation)}?${parameters.toString()}`, {
        method: sample.method,
        headers: {
          authorization: `Bearer ${app.workspace.key}`,
          "content-type": sample.type,
          ...(sample.idempotencyKey === null ? {} : { "idempotency-key": sample.idempotencyKey }),
        },
        ...(sample.method === "GET"
          ? {}
          : { body: sample.body.kind === "raw" ? sample.body.raw : JSON.stringify(fields) }),
        signal: AbortSignal.timeout(20_000),
      });
      const answered = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      const complete = response.ok || (isJson && /"code":"[a-z_]+"/.test(answered)) || sample.path.startsWith("/chat/");
      if (response.status >= 500 || !complete)
        wrong.push({ status: response.status, answered: answered.slice(0, 300), sample });
    };
    for (let i = 0; i < samples.length; i += 20) await Promise.all(samples.slice(i, i + 20).map(one));
    expect(wrong).toEqual([]);
  });
});

describe("connections", () => {
  const opened: Socket[] = [];
  const dial = (port: number, ...pieces: string[]): Promise<string> =>
    new Promise((resolve) => {
      let answer = "";
      const socket = connect(port, "127.0.0.1", () => {
        for (const piece of pieces) socket.write(piece);
      });
      opened.push(socket);
      socket.on("data", (data) => {
        answer += data.toString();
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(answer));
    });
  afterAll(() => opened.forEach((socket) => socket.destroy()));

  it("are closed when they are silent, or send headers or a body too slowly", async () => {
    const http = await startHttp(newSqlite, {
      timeouts: { firstByteMs: 150, headersMs: 200, requestMs: 400, checkMs: 50, keepAliveMs: 200 },
    });
    const silent = Array.from({ length: 20 }, () => dial(http.port));
    const headers = Array.from({ length: 20 }, () => dial(http.port, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "));
    const bodies = Array.from({ length: 20 }, () =>
      dial(
        http.port,
        `POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${http.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      ),
    );
    expect(new Set(await Promise.all(silent))).toEqual(new Set([""]));
    for (const answer of await Promise.all([...headers, ...bodies])) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect((await http.get("/health/live")).status).toBe(200);
    await http.close();
  });

  it("are limited to the configured number", async () => {
    const http = await startHttp(newSqlite, { connectionsMax: 5 });
    const answers = Array.from({ length: 12 }, () => dial(http.port));
    let closed = 0;
    for (const answer of answers) void answer.then(() => (closed += 1));
    await expect.poll(() => closed).toBe(7);
    await http.close();
  });

  it.each([
    ["what is no HTTP", "\u0016\u0003\u0001 hello\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["headers without end", `GET / HTTP/1.1\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    [
      "two lengths of one body",
      "POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
  ])("get a response to %s", async (_name, sent, expected) => {
    const http = await startHttp(newSqlite);
    const answer = await dial(http.port, sent);
    expect(answer).toMatch(expected);
    const body = JSON.parse(answer.split("\r\n\r\n")[1] ?? "") as { readonly request_id: string };
    expect(body).toMatchObject({ request_id: expect.stringMatching(/^req_/) });
    expect(answer).toContain(`X-Request-Id: ${body.request_id}`);
    expect(answer).toContain("x-ratelimit-remaining-minute: 0");
    expect(http.logged.filter((line) => line.includes(body.request_id))).toHaveLength(1);
    await http.close();
  });

  it.each([
    ["headers without end", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431],
    ["headers of megabytes", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(4_000_000)}\r\n\r\n`, 431],
    ["what is no HTTP", "\u0016\u0003\u0001 hello\r\n\r\n", 400],
  ])("get a response to %s on a connection that was used before", async (_name, sent, status) => {
    const http = await startHttp(newSqlite);
    const socket = connect(http.port, "127.0.0.1");
    opened.push(socket);
    const pieces: string[] = [];
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    socket.on("data", (data) => pieces.push(data.toString()));
    socket.write("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n");
    await expect.poll(() => pieces.join("")).toMatch(/^HTTP\/1\.1 200 /);
    pieces.length = 0;
    socket.write(sent);
    await closed;
    expect(pieces.join("")).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*"request_id":"req_`));
    await http.close();
  });

  it("get 400 without a Host header, and with two of them", async () => {
    const http = await startHttp(newSqlite);
    const ask = (version: string, hosts: string) =>
      dial(
        http.port,
        `GET /v1/documents HTTP/${version}\r\n${hosts}Authorization: Bearer ${http.key}\r\nConnection: close\r\n\r\n`,
      );
    for (const refused of [await ask("1.1", ""), await ask("1.1", "Host: a\r\nhost: b\r\n")]) {
      expect(refused).toMatch(/^HTTP\/1\.1 400 [^]*"code":"missing_field","request_id":"req_/);
      expect(refused).toContain("x-ratelimit-limit-minute: 0");
    }
    expect(await ask("1.0", "")).toMatch(/^HTTP\/1\.1 200 /);
    await http.close();
  });

  it("get an ordinary API response to a WebSocket upgrade and to an unknown expectation", async () => {
    const http = await startHttp(newSqlite);
    for (const header of ["Connection: upgrade\r\nUpgrade: websocket", "Connection: close\r\nExpect: nonsense"]) {
      const answer = await dial(http.port, `GET /v1/documents HTTP/1.0\r\nHost: x\r\n${header}\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 401 [^]*"code":"missing_auth"/);
    }
    await http.close();
  });

  it("finish the requests in flight when the server stops, and take no new ones", async () => {
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const http = await startHttp(newSqlite, {
      // A kept connection would never end.
      timeouts: { closeMs: 3_600_000, keepAliveMs: 3_600_000 },
      query: async () => {
        begun.resolve();
        await release.promise;
        return {
          answer: "done",
          sources: [],
          conversationId: "conv_1",
          messageId: null,
          skillsFired: [],
          tokensUsed: 0,
          confidence: null,
        };
      },
    });
    const inFlight = http.post("/v1/query", { workspace_id: http.workspaceId, query: "Hello?" });
    await begun.promise;
    const closed = http.closeServer();
    await expect(fetch(`${http.url}/health/live`)).rejects.toThrow("fetch failed");
    release.resolve();
    const answered = await inFlight;
    expect(answered.body.answer).toBe("done");
    expect(answered.headers.get("connection")).toBe("close");
    await closed;
    await http.store.close();
  });

  it("are cut off when the requests in flight take too long", async () => {
    const begun = Promise.withResolvers<void>();
    const http = await startHttp(newSqlite, {
      query: () => {
        begun.resolve();
        return new Promise(() => undefined);
      },
      timeouts: { closeMs: 100 },
    });
    const inFlight = http.post("/v1/query", { workspace_id: http.workspaceId, query: "Hello?" });
    await begun.promise;
    await http.closeServer();
    expect(await inFlight).toMatchObject({ status: 503, body: { code: "deploying" } });
    await http.store.close();
  });
});

describe("X-Forwarded-For", () => {
  const seen = async (trustedProxies: readonly string[], header: string): Promise<string | undefined> => {
    let address: string | undefined;
    const http = await startHttp(newSqlite, {
      trustedProxies,
      sites: {
        webhook: () => ({
          receive: async (request) => {
            address = request.remoteAddress;
            return { status: 200 };
          },
        }),
      },
    });
    await http.post("/channels/telegram/acc", "{}", { "x-forwarded-for": header });
    await http.close();
    return address;
  };

  it("is ignored by default", async () => {
    expect(await seen([], "203.0.113.9")).toBe("127.0.0.1");
  });

  it("is logged once while no proxy is trusted", async () => {
    const http = await startHttp(newSqlite);
    for (let i = 0; i < 3; i += 1) await http.get("/health/live", { "x-forwarded-for": "203.0.113.9" });
    expect(http.logged.filter((line) => line.includes("TRUSTED_PROXIES"))).toHaveLength(1);
    await http.close();
  });

  it("is accepted from trusted proxies only", async () => {
    expect(await seen(["127.0.0.1"], "203.0.113.9")).toBe("203.0.113.9");
    expect(await seen(["127.0.0.0/8"], "6.6.6.6, 203.0.113.9")).toBe("203.0.113.9");
    expect(await seen(["127.0.0.1", "10.0.0.0/8"], "203.0.113.9, 10.1.2.3")).toBe("203.0.113.9");
    expect(await seen(["10.0.0.0/8"], "203.0.113.9")).toBe("127.0.0.1");
    expect(await seen(["127.0.0.1"], "nonsense")).toBe("127.0.0.1");
  });
});

import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { startHttp } from "#test/support/http/http-server.ts";
import { createKey } from "#admin/api-keys.ts";
import { setWorkspace } from "#admin/workspaces/settings.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

eachDatabase("rate limits", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app.close());

  const rate = (headers: Headers) =>
    ["limit-minute", "remaining-minute", "limit-day", "remaining-day"].map((name) =>
      Number(headers.get(`x-ratelimit-${name}`)),
    );
  const documents = (key: string) => app.get("/v1/documents", { key });

  it("returns the plan's limits, the remaining requests and the end of the day", async () => {
    const { key } = await app.createKey();
    const { headers } = await documents(key);
    expect(rate(headers)).toEqual([1_000, 999, 50_000, 49_999]);
    const midnight = (Math.floor(app.clock.now() / dayMs) + 1) * dayMs;
    expect(headers.get("x-ratelimit-reset-day")).toBe(String(midnight / 1_000));
  });

  it("applies a workspace's own limits instead of its plan's, from the next request on", async () => {
    const { id, key } = await app.createWorkspace({ plan: "enterprise" });
    const set = (...assignments: readonly string[]) => setWorkspace(app.store, app.clock, id, assignments);
    expect(rate((await documents(key)).headers)).toEqual([10_000, 9_999, 1_000_000, 999_999]);
    await set("limit_minute=3", "limit_day=20");
    expect(rate((await documents(key)).headers)).toEqual([3, 1, 20, 18]);
    await expect(createKey(app.store, app.clock, { workspaceId: id, name: "k", limitMinute: 4 })).rejects.toMatchObject(
      { code: "invalid_parameter" },
    );
    await documents(key);
    expect((await documents(key)).body.code).toBe("rate_limit_minute");
    await set("limit_minute=20000", "limit_day=false");
    expect(rate((await documents(key)).headers)).toEqual([20_000, 19_996, 1_000_000, 999_996]);
    const ask = () => app.post("/v1/query", { workspace_id: id, query: "Hello" }, { key });
    await set("queries_per_month=2");
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    expect((await ask()).body.code).toBe("quota_exhausted");
    await set("queries_per_month=3");
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
    await set("queries_per_month=unlimited");
    expect((await ask()).status).toBe(200);
    await set("queries_per_month=3");
    expect((await ask()).status).toBe(429);
    await set("queries_per_month=false");
    expect((await ask()).status).toBe(200);
  });

  it("returns zeros without a key", async () => {
    const { headers } = await app.get("/v1/documents", { key: null });
    expect(rate(headers)).toEqual([0, 0, 0, 0]);
    expect(headers.get("x-ratelimit-reset-day")).not.toBeNull();
  });

  it.each([
    ["a plan", "free" as const, [10, 100]],
    ["another plan", "starter" as const, [60, 3_000]],
    ["a third plan", "growth" as const, [200, 15_000]],
  ])("follows %s", async (_name, plan, [minute, day]) => {
    const workspace = await app.createWorkspace({ plan });
    const { headers } = await documents(workspace.key);
    expect(rate(headers)).toEqual([minute, Number(minute) - 1, day, Number(day) - 1]);
  });

  it("lets a key's own limits lower the plan's, but not raise them", async () => {
    const { key, id } = await app.createKey({ limitMinute: 5, limitDay: 7 });
    expect(rate((await documents(key)).headers)).toEqual([5, 4, 7, 6]);
    await app.store.write((tx) =>
      tx.updateTable("api_keys").set({ limit_minute: 9_999_999 }).where("id", "=", id).execute(),
    );
    expect(rate((await documents(key)).headers)[0]).toBe(1_000);
  });

  it("refuses the request over the minute's limit until the minute ends", async () => {
    const { key } = await app.createKey({ limitMinute: 3 });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await documents(key)).status);
    expect(statuses).toEqual([200, 200, 200]);
    const refused = await documents(key);
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limit_minute" } });
    const left = minuteMs - (app.clock.now() % minuteMs);
    expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(left / 1_000)));
    expect(rate(refused.headers)[1]).toBe(0);
    app.clock.advance(left);
    expect((await documents(key)).status).toBe(200);
  });

  it("refuses the request over the day's limit until midnight UTC", async () => {
    const { key } = await app.createKey({ limitDay: 2 });
    await documents(key);
    await documents(key);
    const refused = await documents(key);
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limit_day" } });
    app.clock.advance(minuteMs);
    expect((await documents(key)).body.code).toBe("rate_limit_day");
    app.clock.advance(dayMs - (app.clock.now() % dayMs));
    expect((await documents(key)).status).toBe(200);
  });

  it("counts successful requests only", async () => {
    const { key } = await app.createKey({ limitMinute: 5 });
    const missing = await app.get("/v1/documents/doc_none", { key });
    expect(missing.status).toBe(404);
    expect(rate(missing.headers)[1]).toBe(5);
    await app.get("/v1/nothing", { key });
    await app.post("/v1/query", "{", { key });
    await app.call("OPTIONS", "/v1/documents", { key });
    expect(rate((await documents(key)).headers)[1]).toBe(4);
  });

  it("admits exactly the allowed number of concurrent requests", async () => {
    const { key } = await app.createKey({ limitMinute: 20 });
    const all = await Promise.all(Array.from({ length: 45 }, () => documents(key)));
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(25);
  });

  it("shares the counters between processes, and keeps them over a restart", async () => {
    const database = await open();
    const shared = { url: database.url, remove: async () => undefined };
    const first = await startApp(async () => shared);
    const { key } = await first.createKey({ limitMinute: 3 });
    await first.get("/v1/documents", { key });
    const second = await startApp(async () => shared);
    expect(rate((await second.get("/v1/documents", { key })).headers)[1]).toBe(1);
    await first.close();
    await second.close();
    const third = await startApp(async () => shared);
    expect(rate((await third.get("/v1/documents", { key })).headers)[1]).toBe(0);
    expect((await third.get("/v1/documents", { key })).status).toBe(429);
    await third.close();
    await database.remove();
  });

  it("refuses the 51st request in flight of one key", async () => {
    const held: (() => void)[] = [];
    const http = await startHttp(open, {
      query: () => new Promise((_, reject) => held.push(() => reject(new Error("over")))),
    });
    const ask = () => http.post("/v1/query", { workspace_id: http.workspaceId, query: "Hello?" });
    const waiting = Array.from({ length: 50 }, ask);
    while (held.length < 50) await new Promise((resolve) => setImmediate(resolve));
    const refused = await ask();
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_concurrent_requests" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    for (const end of held) end();
    await Promise.all(waiting);
    const after = http.get("/v1/documents");
    expect((await after).status).toBe(200);
    await http.close();
  });

  it("limits the questions of one user by the user id sent, proven or not", async () => {
    const settings = { userLimitMinute: 2, userLimitDay: 3 };
    const { id, key } = await app.createWorkspace({ plan: "growth", settings });
    const ask = (body: object) =>
      app.post("/v1/query", { workspace_id: id, query: "Is there anybody?", ...body }, { key });
    expect((await ask({ user_id: "ada" })).status).toBe(200);
    expect((await ask({ user_id: "ada", conversation_id: "conv_none" })).status).toBe(404);
    expect((await ask({ user: { user_id: "ada" } })).status).toBe(200);
    const refused = await ask({ user_id: "ada" });
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limit_minute" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    // Refused requests do not count against the limits of the key.
    expect(rate(refused.headers)[1]).toBe(198);
    expect([(await ask({ user_id: "bob" })).status, (await ask({})).status]).toEqual([200, 200]);
    app.clock.advance(minuteMs - (app.clock.now() % minuteMs));
    expect((await ask({ user_id: "ada" })).status).toBe(200);
    const over = await ask({ user_id: "ada" });
    expect(over).toMatchObject({ status: 429, body: { code: "rate_limit_day" } });
    expect(over.body.detail).toContain("3 questions a day");
  });

  it("counts a replayed response as a request, but not as a question", async () => {
    const { key } = await app.createKey({ limitMinute: 5 });
    const ask = () =>
      app.post(
        "/v1/query",
        { workspace_id: app.workspace.id, query: "Is there anybody?" },
        { key, headers: { "idempotency-key": "replayed" } },
      );
    await ask();
    const replayed = await ask();
    expect([replayed.headers.get("idempotency-replayed"), rate(replayed.headers)[1]]).toEqual(["true", 3]);
  });

  it("sends all five headers with every response", async () => {
    const { key } = await app.createKey({ limitMinute: 100 });
    const id = app.workspace.id;
    const big = JSON.stringify({ workspace_id: id, query: "x".repeat(1_100_000) });
    const answers = [
      [401, await app.get("/v1/documents", { key: null })],
      [401, await app.get("/v1/nothing", { key: `ak_live_${"a".repeat(32)}` })],
      [200, await app.get("/v1/documents", { key })],
      [200, await app.call("HEAD", "/v1/documents", { key })],
      [405, await app.call("OPTIONS", "/v1/documents", { key })],
      [405, await app.call("PUT", "/v1/documents", { key })],
      [404, await app.get("/v1/nothing", { key })],
      [404, await app.get("/v1/conversations/conv_none", { key })],
      [400, await app.post("/v1/query", "{", { key })],
      [413, await app.post("/v1/query", big, { key })],
      [415, await app.post("/v1/query", "x", { key, headers: { "content-type": "text/plain" } })],
      [422, await app.post("/v1/query", { workspace_id: id, query: "x", top_k: 99 }, { key })],
      [200, await app.post("/v1/query/stream", { workspace_id: id, query: "Is there anybody?" }, { key })],
    ] as const;
    for (const [status, answered] of answers) {
      const names = ["limit-minute", "remaining-minute", "limit-day", "remaining-day", "reset-day"];
      const values = names.map((name) => answered.headers.get(`x-ratelimit-${name}`));
      expect([status, answered.status, values]).toEqual([
        status,
        status,
        names.map(() => expect.stringMatching(/^\d+$/)),
      ]);
      expect(values[0]).toBe(status === 401 ? "0" : "100");
    }
  });

  it("refuses queries over the monthly allowance with quota_exhausted, and counts answered ones only", async () => {
    const workspace = await app.createWorkspace({ plan: "free" });
    const month = Date.UTC(2031, 4);
    await app.store.write((tx) =>
      tx
        .insertInto("counters")
        .values({ name: `queries:${workspace.id}`, window_start: month, value: 98 })
        .execute(),
    );
    const ask = (body: object = {}) =>
      app.post(
        "/v1/query",
        { workspace_id: workspace.id, query: "Is there anybody?", ...body },
        { key: workspace.key },
      );
    expect((await ask()).status).toBe(200);
    expect((await ask({ conversation_id: "conv_none" })).status).toBe(404);
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 429, body: { code: "quota_exhausted" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(15 * 86_400);
    expect((await app.get("/v1/documents", { key: workspace.key })).status).toBe(200);
  });
});

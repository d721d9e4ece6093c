import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Answered, TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DatabaseProxy, Fault } from "#test/support/database/proxy.ts";
import { openDatabaseProxy } from "#test/support/database/proxy.ts";
import { onMysql } from "#test/support/database/databases.ts";
import { isFullTier } from "#test/support/tier.ts";

const faults: Readonly<Record<string, Fault>> = {
  "loses connections before a statement": "before",
  "loses connections instead of an answer": "after",
  "is read-only": { errno: 1290, state: "HY000", message: "The server is running with the --read-only option" },
  "is in read-only mode": { errno: 1836, state: "HY000", message: "Running in read-only mode" },
  "kills connections": { errno: 1927, state: "70100", message: "Connection was killed" },
  "interrupts statements": { errno: 1317, state: "70100", message: "Query execution was interrupted" },
  "has locks that last": { errno: 1205, state: "HY000", message: "Lock wait timeout exceeded" },
  "has a full disk": { errno: 1021, state: "HY000", message: "Disk full" },
  "has a full table": { errno: 1114, state: "HY000", message: "The table 'messages' is full" },
  "takes no packet as large": { errno: 1153, state: "08S01", message: "Got a packet bigger than 'max_allowed_packet'" },
  "is being shut down": { errno: 1053, state: "08S01", message: "Server shutdown in progress" },
};

onMysql("the program while the database", (open) => {
  let app: TestApp;
  let proxy: DatabaseProxy;
  let url: string;
  let remove: () => Promise<void>;
  let conversationId: string;
  beforeAll(async () => {
    const database = await open();
    ({ url, remove } = database);
    proxy = await openDatabaseProxy(url);
    app = await startApp(open, { databaseUrl: proxy.url });
    await app.learn("delivery.md", "# Delivery\n\nDelivery takes three days within the country.\n");
    conversationId = (await ask("first")).body.conversation_id;
  });
  afterEach(() => proxy.restore());
  afterAll(async () => {
    await app.close();
    await proxy.close();
    await remove();
  });

  const ask = (key: string, text = "How long does delivery take?"): Promise<Answered> =>
    app.post("/v1/query", { workspace_id: app.workspace.id, query: text }, { headers: { "idempotency-key": key } });

  /** The response to a refused WebSocket handshake. */
  const handshake = (): Promise<Pick<Answered, "status" | "headers">> =>
    new Promise((resolve, reject) => {
      const headers = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
      const path = `${app.url}/widget/ws?workspace=${app.workspace.id}&channel=widget`;
      const asked = httpRequest(path, { headers: { ...headers, "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" } });
      asked.on("response", (response) => {
        response.resume();
        const given = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
        resolve({ status: response.statusCode ?? 0, headers: new Headers(given) });
      });
      asked.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, headers: new Headers() });
      });
      asked.on("error", reject);
      asked.end();
    });

  const requests: Readonly<Record<string, () => Promise<Pick<Answered, "status" | "headers">>>> = {
    list: () => app.get("/v1/conversations?limit=1"),
    change: () => app.call("PATCH", `/v1/conversations/${conversationId}`, { body: { priority: "high" } }),
    query: () => ask(`key-${app.clock.now()}`),
    bulk: () => app.post("/v1/conversations/bulk", { action: "tag", conversation_ids: [conversationId], tags: ["a"] }),
    inbox: () => app.get("/inbox/api/conversations", { key: null, headers: { cookie: "parley_session=none" } }),
    webhook: () => app.post("/channels/telegram/acc_none", {}, { key: null }),
    socket: handshake,
  };

  it.each(Object.entries(faults))("%s answers 503 with Retry-After, and logs the cause", async (_name, fault) => {
    const before = app.logged.length;
    let failed = 0;
    for (const [requestName, send] of Object.entries(requests)) {
      for (const statement of isFullTier ? [/select/, /insert|update/, /commit$/] : [/select/, /insert|update/]) {
        app.clock.advance(60_000);
        // More failures than the store has tries.
        proxy.fail(statement, fault, 60);
        const { status, headers } = await send();
        proxy.restore();
        if (status < 500) continue;
        failed += 1;
        expect([requestName, status, headers.get("retry-after")]).toEqual([requestName, 503, "5"]);
      }
    }
    expect(failed).toBeGreaterThan(6);
    const cause = typeof fault === "object" ? fault.message : "ECONNRESET";
    const lines = app.logged.slice(before).filter((line) => line.includes('"http: dependency unavailable"'));
    expect(lines.filter((line) => line.includes(cause)).length).toBeGreaterThan(4);
  });

  it("takes no changes answers reads all the same", async () => {
    const refusals = ["is read-only", "is in read-only mode", "has a full disk", "has a full table"];
    for (const name of refusals) {
      // The use of a key is stored once a minute.
      app.clock.advance(60_000);
      proxy.fail(/insert|update/, faults[name] ?? "before", 1_000);
      const list = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&limit=1`);
      const one = await app.get(`/v1/conversations/${conversationId}`);
      const changed = await app.call("PATCH", `/v1/conversations/${conversationId}`, { body: { priority: "low" } });
      proxy.restore();
      expect([name, list.status, one.status, changed.status]).toEqual([name, 200, 200, 503]);
      expect(list.body.conversations).toHaveLength(1);
      expect(list.headers.get("x-ratelimit-limit-minute")).toMatch(/^[1-9]/);
    }
  });

  describe("loses its connection", () => {
    const cases = (["before", "after", "left", "late"] satisfies Fault[]).flatMap((fault) =>
      [/begin$/, /insert into .messages/, /commit$/].map((statement) => ({ fault, statement })),
    );
    it.each(cases)("($fault $statement) answers each question and stores it once", async ({ fault, statement }) => {
      for (const skip of isFullTier ? [0, 1, 2] : [0]) {
        // The fault hits this question only if no connection is left that an earlier fault broke.
        await expect.poll(async () => (await ask(randomUUID(), "Is it back?")).status).toBe(200);
        const question = `Does ${fault} ${String(statement)} ${skip} take long?`;
        proxy.fail(statement, fault, 1, skip);
        const { status } = await ask(`${fault}-${statement.source.replaceAll(/\W/g, "")}-${skip}`, question);
        proxy.restore();
        expect(status).toBe(200);
        const stored = await app.store.read
          .selectFrom("messages")
          .select("id")
          .where("content", "=", question)
          .execute();
        expect(stored).toHaveLength(1);
      }
    });
  });

  it("is down during a request accepts the same Idempotency-Key afterwards, in this process and in others", async () => {
    const other = await startApp(open, { databaseUrl: url, clock: app.clock });
    for (const [at, server] of [app, other].entries()) {
      const question = `Is it away ${at}?`;
      // Only the claim is committed.
      proxy.fail(/insert into .messages/, "before", 1_000);
      expect((await ask(`away-${at}`, question)).status).toBe(503);
      proxy.restore();
      const again = () =>
        server.post(
          "/v1/query",
          { workspace_id: app.workspace.id, query: question },
          { key: app.workspace.key, headers: { "idempotency-key": `away-${at}` } },
        );
      await expect.poll(async () => (await again()).status).toBe(200);
    }
    await other.close();
  });
});

import { request } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly requestId?: string;
}

const warning = 40;
const failure = 50;

let app: TestApp;
beforeAll(async () => {
  app = await startApp(newSqlite, { publicUrl: "http://127.0.0.1:8080" });
});
afterAll(() => app.close());

const linesSince = (from: number): Line[] => app.logged.slice(from).map((line) => JSON.parse(line) as Line);

it("logs each request under the id that its client received, and no warning for a client's error", async () => {
  const from = app.logged.length;
  const refused = [
    await app.get("/v1/conversations"),
    await app.get("/v1/nothing"),
    await app.get("/v1/documents", { key: null }),
    await app.get("/v1/documents", { key: `ak_aaaaaa_${"x".repeat(32)}` }),
    await app.post("/v1/query", "{ not JSON"),
    await app.post("/v1/query", { workspace_id: app.workspace.id }),
    await app.post("/v1/query", { workspace_id: "wt_aaaaaa_0000000000", query: "Hello?" }),
    await app.call("DELETE", "/v1/query"),
    await app.post("/v1/documents/upload", "text", { headers: { "content-type": "text/plain" } }),
    await app.get("/inbox/api/me", { key: null }),
    await app.get("/channels/telegram/acc_unknown", { key: null }),
  ];
  const lines = linesSince(from);
  for (const { status, headers } of refused) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(lines.filter(({ requestId }) => requestId === headers.get("x-request-id"))).toHaveLength(1);
  }
  expect(lines.filter(({ level }) => level >= warning)).toEqual([]);
});

it("logs no warning when a client disconnects during its request", async () => {
  const from = app.logged.length;
  const { hostname, port } = new URL(app.url);
  const sending = request({
    hostname,
    port,
    method: "POST",
    path: "/v1/query",
    headers: {
      authorization: `Bearer ${app.workspace.key}`,
      "content-type": "application/json",
      "content-length": 1_000,
    },
  });
  sending.on("error", () => undefined);
  sending.write("{");
  // It has arrived when its slot of the limits is taken.
  await expect
    .poll(() => app.store.read.selectFrom("counters").select("value").where("name", "like", "rate:minute:%").execute())
    .not.toEqual([]);
  await app.get("/v1/documents");
  sending.destroy();
  await expect.poll(() => linesSince(from).filter(({ msg }) => msg === "http: request completed")).toHaveLength(2);
  expect(linesSince(from).filter(({ level }) => level >= warning)).toEqual([]);
});

it("adds the request's id to the log lines of the work that it causes", async () => {
  const rename = (from: string, to: string) =>
    app.store.write((tx) => sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(tx));
  await rename("outbox", "away");
  const from = app.logged.length;
  const read = await app.get("/metrics", { key: null });
  const asked = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Where is the outbox?" });
  await rename("away", "outbox");
  expect([read.status, asked.status]).toEqual([200, 500]);
  const lines = linesSince(from);
  expect(lines.find(({ msg }) => msg === "metrics: counting the queue failed")?.requestId).toBe(
    read.headers.get("x-request-id"),
  );
  expect(lines.find(({ level }) => level === failure)?.requestId).toBe(asked.body.request_id);
  for (const line of app.logged.slice(from)) expect(line.match(/"requestId":/g) ?? []).not.toHaveLength(2);
});

it("logs no customer's text and no key", async () => {
  const from = app.logged.length;
  const question = "My IBAN is DE02120300000000202051, why?";
  await app.post(
    `/v1/query?note=${encodeURIComponent(question)}`,
    {
      workspace_id: app.workspace.id,
      query: question,
      user: { user_id: "ada", name: "Ada Lovelace", email: "ada@example.com" },
    },
    { headers: { "idempotency-key": "once-DE02120300000000202051" } },
  );
  await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&q=DE02120300000000202051&email=ada@example.com`);
  const text = app.logged.slice(from).join("\n");
  expect(text).toContain('"msg":"http: request completed"');
  expect(text).not.toMatch(/DE0212|Lovelace|ada@example|IBAN/);
  expect(text).not.toContain(app.workspace.key.slice(10));
});

it("logs no link that grants access, whatever the method", async () => {
  const from = app.logged.length;
  for (const [method, path] of [
    ["GET", "/files/a-secret.link"],
    ["POST", "/files/a-secret.link"],
    ["PUT", "/inbox/login/a-secret.link"],
    ["GET", "/inbox/invitation/a-secret.link/"],
    ["PUT", "/inbox/invitation/a-secret.link"],
    ["PUT", "/inbox/login/reset/a-secret.link"],
  ] as const) {
    await app.call(method, path);
  }
  const logged = app.logged.slice(from).join("");
  expect(logged).toContain("/files/:token");
  expect(logged).not.toContain("a-secret.link");
});

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp, TestWorkspace } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { ModelServer } from "#test/support/servers/model-server.ts";
import { startModelServer } from "#test/support/servers/model-server.ts";

const delivery = "Delivery within the country takes one to three working days.";
const question = "How long does delivery take?";

eachDatabase("the monthly tokens of a language model", (open) => {
  let server: ModelServer;
  let app: TestApp;
  /** Another process at the same database. */
  let other: TestApp;
  let database: TestDatabase;
  beforeAll(async () => {
    server = await startModelServer();
    const model = { provider: "openai-compatible", baseUrl: server.url, name: "m", apiKey: "sk-test-0a1b2c" } as const;
    database = await open();
    const shared = { model, databaseUrl: database.url };
    app = await startApp(open, shared);
    other = await startApp(open, { ...shared, clock: app.clock });
  });
  afterAll(async () => {
    await other.close();
    await app.close();
    await database.remove();
    await server.close();
  });
  beforeEach(() => {
    server.answer = (request) => ({
      kind: "text",
      pieces: [`Sure! ${delivery} [${request.passage(delivery)}]`],
      tokens: { input: 90, output: 10 },
    });
  });

  async function learn({ id: workspaceId }: TestWorkspace): Promise<void> {
    const { documents } = app.app.services;
    const bytes = Buffer.from(`# Help\n\n## ${question}\n\n${delivery}\n`);
    const { id } = await documents.add({ workspaceId, fileName: "help.md", bytes });
    await documents.process(id);
  }

  it("are used up to the limit, by all processes together, and come back with the next month", async () => {
    const workspace = await app.createWorkspace({ settings: { modelTokensPerMonth: 250 } });
    await learn(workspace);
    const admin = await dashboardUser(app, "admin", { workspaceId: workspace.id });
    const ask = async (from: TestApp, path = "/v1/query") => {
      const answered = await from.post(path, { workspace_id: workspace.id, query: question }, { key: workspace.key });
      expect(answered.status).toBe(200);
      return answered;
    };
    const spent = async () => ({
      overview: ((await admin.call("GET", "overview")).body as { model_budget_spent: boolean }).model_budget_spent,
      tokens: ((await admin.call("GET", "settings")).body as { model_tokens_this_month: number })
        .model_tokens_this_month,
    });
    for (const from of [app, other]) expect((await ask(from)).body.answer).toContain("Sure!");
    expect(await spent()).toEqual({ overview: false, tokens: 200 });
    // The answer that reaches the limit is still written.
    expect((await ask(app)).body.answer).toContain("Sure!");
    expect(await spent()).toEqual({ overview: true, tokens: 300 });
    const calls = server.requests.length;
    for (const from of [app, other]) {
      const { body } = await ask(from);
      expect(body).toMatchObject({ answer: delivery, tokens_used: 0 });
      expect((await ask(from, "/v1/query/stream")).text).not.toContain("Sure!");
    }
    expect(server.requests.length).toBe(calls);
    app.clock.advance(32 * 86_400_000);
    expect((await ask(other)).body.answer).toContain("Sure!");
  });

  it("have no limit by default, and are counted", async () => {
    const workspace = await app.createWorkspace();
    await learn(workspace);
    await app.post("/v1/query", { workspace_id: workspace.id, query: question }, { key: workspace.key });
    const admin = await dashboardUser(app, "admin", { workspaceId: workspace.id, name: "other" });
    expect((await admin.call("GET", "settings")).body).toMatchObject({ model_tokens_this_month: 100 });
    const patched = await admin.call("PATCH", "settings", { settings: { model_tokens_per_month: 100 } });
    expect(patched.body).toMatchObject({ settings: { model_tokens_per_month: { value: 100 } } });
    // Settings that were read before are used for up to a second.
    app.clock.advance(1_500);
    const { body } = await app.post(
      "/v1/query",
      { workspace_id: workspace.id, query: question },
      { key: workspace.key },
    );
    expect(body.answer).toBe(delivery);
    expect((await admin.call("PATCH", "settings", { settings: { model_tokens_per_month: 0 } })).status).toBe(422);
  });
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import type { TestDatabase } from "../support/database/databases.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { CommandHost } from "../support/program/program.ts";
import { openCommandHost } from "../support/program/program.ts";

/** Each command is a process of its own, and the machine may be busy. */
const patienceMs = 120_000;

const config = `
workspaces:
  - name: Test
    rules:
      - name: refunds
        when: {message: customer}
        if: {words: refund, without_tags: money}
        then: [{tag: money}, {assign: round_robin}]
      - name: waits
        when: {minutes: 45, since: last_message}
        if: {unanswered: true, statuses: escalated}
        then: [{notify: Somebody waits.}]
      - name: late
        when: {sla: breached}
        then: [{priority: urgent}]
`;

describe("rules test", () => {
  let database: TestDatabase;
  let app: TestApp;
  let folder: string;
  let env: Record<string, string>;
  let host: CommandHost;
  beforeAll(async () => {
    host = await openCommandHost();
    database = await newSqlite();
    folder = await mkdtemp(join(tmpdir(), "parley-rules-"));
    await writeFile(join(folder, "parley.yaml"), config);
    env = {
      PARLEY_DATA_DIR: join(folder, "data"),
      DATABASE_URL: database.url,
      PARLEY_CONFIG: join(folder, "parley.yaml"),
      PARLEY_SECRET: "a secret for tests, of more than thirty-two characters",
    };
    app = await startApp(newSqlite, { databaseUrl: database.url });
  });
  afterAll(async () => {
    await host.close();
    await app.close();
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it(
    "reports which rules of the file would have fired, and why, without changing anything",
    { timeout: patienceMs },
    async () => {
      const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "I want a refund" });
      const id = body.conversation_id;
      await app.call("PATCH", `/v1/conversations/${id}`, { body: { status: "escalated" } });
      app.clock.leap(50 * 60_000);
      await app.call("PATCH", `/v1/conversations/${id}`, { body: { tags: ["money"] } });
      app.clock.leap(60_000);
      await app.post("/v1/query", { workspace_id: app.workspace.id, query: "the refund?", conversation_id: id });
      const before = await app.get(`/v1/conversations/${id}`);

      const ran = await host.parley(["rules", "test", "--workspace", app.workspace.id, "--json"], env);
      expect(ran).toMatchObject({ status: 0, stderr: "" });
      const report = JSON.parse(ran.stdout) as {
        readonly conversations: number;
        readonly fired: readonly {
          readonly rule: string;
          readonly conversation_id: string;
          readonly because: string[];
        }[];
      };
      expect(report.conversations).toBe(1);
      expect(report.fired.filter(({ rule }) => rule === "refunds")).toEqual([
        {
          conversation_id: id,
          at: expect.stringMatching(/Z$/) as unknown,
          rule: "refunds",
          because: ["the customer has written", "it has no tag money", 'the message says "refund"'],
          would: ["tag money", "assign to the next agent who is available"],
        },
      ]);
      // The rule counts by the stored times, not by the clock of the machine that runs the command.
      expect(report.fired.find(({ rule }) => rule === "waits")?.because[0]).toBe(
        "45 minutes have passed since the last message",
      );
      expect((await app.get(`/v1/conversations/${id}`)).body).toEqual(before.body);
    },
  );

  it("prints text, lists the existing rules, and accepts one of them", { timeout: patienceMs }, async () => {
    const shown = await host.parley(["rules", "test", "--workspace", app.workspace.id, "--rule", "refunds"], env);
    expect(shown.stdout).toContain("1 rule on 1 conversation: would have fired 1 time. Nothing was changed.");
    const wrong = await host.parley(["rules", "test", "--workspace", app.workspace.id, "--rule", "x"], env);
    expect(wrong).toMatchObject({ status: 1, stdout: "" });
    expect(wrong.stderr).toContain('there is no rule "x"; there are: "refunds", "waits", "late"');
  });

  it("marks agents as away and back", { timeout: patienceMs }, async () => {
    const email = "anna@test.example";
    const { store, clock, workspace } = app;
    await createAgent(store, clock, { workspaceId: workspace.id, email, name: "Anna", role: "agent" });
    const away = await host.parley(["agent", "away", "--workspace", workspace.id, "--email", email, "--json"], env);
    expect(JSON.parse(away.stdout)).toEqual({ email, away: true });
    const list = await host.parley(["agent", "list", "--json"], env);
    expect(JSON.parse(list.stdout)).toMatchObject([{ email, away: true }]);
    const back = await host.parley(["agent", "back", "--workspace", workspace.id, "--email", email, "--json"], env);
    expect(JSON.parse(back.stdout)).toEqual({ email, away: false });
    const nobody = await host.parley(["agent", "away", "--workspace", workspace.id, "--email", "x@test.example"], env);
    expect(nobody.stderr).toContain("there is no agent x@test.example");
  });
});

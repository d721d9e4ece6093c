import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

interface Question {
  readonly id: string;
  readonly question: string;
  readonly state: string;
  readonly count: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly channels: readonly string[];
  readonly document: { readonly id: string; readonly title: string } | null;
  readonly examples: readonly { readonly conversation_id: string; readonly question: string }[];
}

const dayMs = 86_400_000;

eachDatabase("unanswered questions in /admin/v1", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let viewer: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
    viewer = await dashboardUser(app, "viewer");
    await app.learn("returns.md", "# Returning an item\n\nYou can return any item within 45 days of delivery.\n");
  });
  afterAll(() => app.close());

  const ask = async (query: string): Promise<string> => {
    const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query });
    return body.conversation_id;
  };
  const list = async (query = ""): Promise<readonly Question[]> => {
    const { status, body } = await viewer.call("GET", `unanswered${query}`);
    expect(status).toBe(200);
    return (body as { readonly questions: readonly Question[] }).questions;
  };
  const ungrouped = () => app.store.read.selectFrom("weak_answers").select("message_id").where("terms", "is", null);
  const grouped = async (): Promise<void> => {
    await expect.poll(async () => (await ungrouped().execute()).length).toBe(0);
  };

  it("are listed by frequency, with their reasons and conversations", async () => {
    await ask("Do you deliver to Norway?");
    const id = await ask("delivering to Norway");
    await ask("Is there a student discount?");
    await ask("Within how many days can I return an item?");
    await grouped();
    const [first, second, ...more] = await list();
    expect(first).toMatchObject({
      question: "delivering to Norway",
      state: "open",
      count: 2,
      reasons: { refused: 2, unsure: 0, disliked: 0, handed_over: 0 },
      channels: ["api"],
      document: null,
    });
    expect(second).toMatchObject({ question: "Is there a student discount?", count: 1 });
    expect(more).toEqual([]);
    const { body } = await viewer.call("GET", `unanswered/${first?.id ?? ""}`);
    expect(body).toMatchObject({
      count: 2,
      examples: [{ conversation_id: id, question: "delivering to Norway" }, { question: "Do you deliver to Norway?" }],
    });
    expect(await list("?limit=1")).toHaveLength(1);
  });

  it("remember the document that answers them, and open again when they are refused again", async () => {
    const [first] = await list();
    const document = await app.store.read.selectFrom("documents").select(["id", "title"]).executeTakeFirstOrThrow();
    const done = `unanswered/${first?.id ?? ""}/done`;
    expect((await viewer.call("POST", done, {})).status).toBe(403);
    expect((await admin.call("POST", done, { document_id: "doc_unknown" })).body).toMatchObject({
      code: "document_not_found",
    });
    expect((await admin.call("POST", done, { document_id: document.id })).status).toBe(204);
    expect((await list()).map(({ id }) => id)).not.toContain(first?.id);
    expect(await list("?state=done")).toMatchObject([{ id: first?.id, document }]);
    app.clock.advance(60_000);
    await ask("Could you deliver to Norway?");
    await grouped();
    expect((await list())[0]).toMatchObject({ id: first?.id, state: "open", count: 3, document });
  });

  it("are ignored until they are opened again", async () => {
    const [first] = await list();
    expect((await admin.call("POST", `unanswered/${first?.id ?? ""}/ignore`)).status).toBe(204);
    app.clock.advance(60_000);
    await ask("Do you deliver to Norway?");
    await grouped();
    expect(await list("?state=ignored")).toMatchObject([{ id: first?.id, count: 4 }]);
    expect((await admin.call("POST", `unanswered/${first?.id ?? ""}/reopen`)).status).toBe(204);
    expect((await list())[0]?.id).toBe(first?.id);
    const audit = await app.store.read
      .selectFrom("audit")
      .select(["action", "detail"])
      .where("action", "in", ["question_answered", "question_ignored", "question_reopened"])
      .execute();
    expect(audit.map(({ action }) => action)).toEqual(["question_answered", "question_ignored", "question_reopened"]);
    expect(JSON.stringify(audit)).not.toContain("Norway");
  });

  it("are those of the workspace and of the named days only", async () => {
    const other = await app.createWorkspace();
    const stranger = await dashboardUser(app, "admin", { name: "stranger", workspaceId: other.id });
    const [first] = await list();
    expect((await stranger.call("GET", "unanswered")).body).toMatchObject({ questions: [], total: 0 });
    expect((await stranger.call("GET", `unanswered/${first?.id ?? ""}`)).status).toBe(404);
    expect((await stranger.call("POST", `unanswered/${first?.id ?? ""}/ignore`)).status).toBe(404);
    expect((await viewer.call("GET", "unanswered?days=91")).status).toBe(422);
    app.clock.advance(8 * dayMs);
    expect(await list("?days=7")).toEqual([]);
    expect(await list("?days=30")).toHaveLength(2);
  });

  it("count the newest 20,000 quickly", async () => {
    const now = app.clock.now();
    const groups = Array.from({ length: 1_000 }, () => newId("qst", now));
    const of = { workspace_id: app.workspace.id, conversation_id: "conv_many", channel: "api", terms: "many" };
    const rows = Array.from({ length: 20_500 }, (_, at) => ({
      ...of,
      message_id: newId("msg", now),
      asked_at: now - at,
      refused: 1 as const,
      group_id: groups[(at * at) % 1_000] ?? "",
    }));
    await app.store.write(async (tx) => {
      for (let at = 0; at < rows.length; at += 500) {
        await tx
          .insertInto("weak_answers")
          .values(rows.slice(at, at + 500))
          .execute();
      }
      await tx
        .insertInto("question_groups")
        .values(
          groups.map((id) => ({
            id,
            workspace_id: app.workspace.id,
            leader_id: "msg",
            asked_at: now,
            state: "open" as const,
            document_id: null,
            state_at: now,
            state_by: null,
          })),
        )
        .execute();
    });
    const startedMs = performance.now();
    const counted = await list("?days=90&limit=100");
    const tookMs = performance.now() - startedMs;
    expect(counted).toHaveLength(100);
    // 180 to 215 ms on two busy cores.
    expect(tookMs).toBeLessThan(3_000);
  });
});

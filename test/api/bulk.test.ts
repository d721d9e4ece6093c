import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "../support/app.ts";
import { startApp } from "../support/app.ts";
import { eachDatabase } from "../support/databases.ts";

eachDatabase("bulk changes", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app.close());

  const begin = async (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello" });
        return body.conversation_id;
      }),
    );
  const bulk = (body: unknown) => app.post("/v1/conversations/bulk", body);
  const conversation = async (id: string) => (await app.get(`/v1/conversations/${id}`)).body;

  it("gives a result for each conversation, and one failure undoes no other change", async () => {
    const [a = "", b = ""] = await begin(2);
    await app.call("PATCH", `/v1/conversations/${b}`, { body: { status: "resolved" } });
    const { status, body } = await bulk({ action: "archive", conversation_ids: [a, b, "conv_none", b] });
    expect(status).toBe(200);
    expect(body.results).toMatchObject([
      { conversation_id: a, ok: false, status: "open", error: { code: "invalid_transition" } },
      { conversation_id: b, ok: true, status: "archived" },
      { conversation_id: "conv_none", ok: false, error: { code: "conversation_not_found" } },
    ]);
  });

  it("claims, resolves and tags a hundred", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) ids.push(...(await begin(25)));
    for (const body of [
      { action: "claim", assigned_to: "kim@example.com" },
      { action: "tag", tags: ["Sale", "sale"] },
      { action: "resolve" },
    ]) {
      const answered = await bulk({ ...body, conversation_ids: ids });
      expect(answered.body.results.map(({ ok }) => ok)).toEqual(ids.map(() => true));
    }
    expect(await conversation(ids[99] ?? "")).toMatchObject({
      status: "resolved",
      tags: ["sale"],
      assigned_to: "kim@example.com",
    });
  });

  it("does not touch conversations of another workspace", async () => {
    const [id = ""] = await begin(1);
    const other = await app.createWorkspace();
    const answered = await app.post(
      "/v1/conversations/bulk",
      { action: "resolve", conversation_ids: [id] },
      { key: other.key },
    );
    expect(answered.body.results).toMatchObject([{ ok: false, error: { code: "conversation_not_found" } }]);
    expect((await conversation(id)).status).toBe("open");
  });

  it.each([
    ["missing_field", { action: "resolve" }],
    ["missing_field", { conversation_ids: ["conv_x"] }],
    ["missing_field", { action: "claim", conversation_ids: ["conv_x"] }],
    ["missing_field", { action: "tag", conversation_ids: ["conv_x"] }],
    ["invalid_parameter", { action: "delete", conversation_ids: ["conv_x"] }],
    ["invalid_parameter", { action: "resolve", conversation_ids: [] }],
    ["invalid_parameter", { action: "resolve", conversation_ids: "conv_x" }],
    ["invalid_parameter", { action: "resolve", conversation_ids: [5] }],
    ["invalid_parameter", { action: "resolve", conversation_ids: Array.from({ length: 101 }, (_, i) => `conv_${i}`) }],
  ])("refuses with %s: %j", async (code, body) => {
    expect((await bulk(body)).body.code).toBe(code);
  });
});

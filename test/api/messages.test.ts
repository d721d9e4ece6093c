import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "../support/app.ts";
import { startApp } from "../support/app.ts";
import { eachDatabase } from "../support/databases.ts";

eachDatabase("messages", (open) => {
  let app: TestApp;
  let id: string;
  beforeAll(async () => {
    app = await startApp(open);
    id = await begin();
    for (let i = 1; i < 5; i += 1) {
      await app.post("/v1/query", { workspace_id: app.workspace.id, query: `Hello ${i}`, conversation_id: id });
    }
  });
  afterAll(() => app.close());

  const begin = async () =>
    (await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello" })).body.conversation_id;
  const page = (parameters = "", conversation = id) =>
    app.get(`/v1/conversations/${conversation}/messages${parameters}`);
  const reply = (conversation: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    app.post(`/v1/conversations/${conversation}/messages`, body, { headers });

  it.each(["asc", "desc"])("pages through all messages in order %s", async (order) => {
    const all = (await app.get(`/v1/conversations/${id}`)).body.messages.map((message) => message.id);
    expect(all.length).toBeGreaterThan(6);
    const walked: string[] = [];
    let cursor = "";
    for (;;) {
      const { body } = await page(`?limit=3&order=${order}${cursor}`);
      walked.push(...body.messages.map((message) => message.id));
      cursor = `&cursor=${body.pagination.next_cursor}`;
      if (!body.pagination.has_more) break;
    }
    expect(walked).toEqual(order === "asc" ? all : all.toReversed());
    expect((await page(`?order=${order}${cursor}`)).body).toMatchObject({
      messages: [],
      pagination: { has_more: false },
    });
  });

  it("finds what came after the last page under its cursor", async () => {
    const conversation = await begin();
    const { body } = await page("", conversation);
    await reply(conversation, { content: "I am here now", author_email: "kim@example.com" });
    const next = await page(`?cursor=${body.pagination.next_cursor}`, conversation);
    expect(next.body.messages.map(({ content }) => content)).toEqual(["I am here now"]);
  });

  it.each(["?limit=0", "?limit=101", "?order=up"])("refuses %s", async (parameters) => {
    expect(await page(parameters)).toMatchObject({ status: 422, body: { code: "invalid_parameter" } });
  });

  it("refuses a cursor of another conversation, order or list", async () => {
    const { next_cursor: cursor } = (await page("?limit=1")).body.pagination;
    const other = await begin();
    expect((await page(`?cursor=${cursor}`, other)).body.code).toBe("invalid_cursor");
    expect((await page(`?cursor=${cursor}&order=desc`)).body.code).toBe("invalid_cursor");
    const list = (await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&limit=1`)).body.pagination;
    expect((await page(`?cursor=${list.next_cursor}`)).body.code).toBe("invalid_cursor");
  });

  it("stores an agent's reply and claims an open conversation for them", async () => {
    const conversation = await begin();
    const { status, body } = await reply(conversation, {
      content: "We will look into it.",
      author_email: "Kim@example.com",
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ role: "agent", content: "We will look into it.", author: "kim@example.com" });
    const after = await app.get(`/v1/conversations/${conversation}`);
    expect(after.body).toMatchObject({ status: "claimed", assigned_to: "kim@example.com" });
  });

  it("makes a repeated reply with the same Idempotency-Key once", async () => {
    const conversation = await begin();
    const body = { content: "Only once", author_email: "kim@example.com" };
    const first = await reply(conversation, body, { "idempotency-key": "r1" });
    const second = await reply(conversation, body, { "idempotency-key": "r1" });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    const { messages } = (await app.get(`/v1/conversations/${conversation}`)).body;
    expect(messages.filter(({ role }) => role === "agent")).toHaveLength(1);
  });

  it.each([
    ["missing_field", { content: "x" }],
    ["missing_field", { author_email: "kim@example.com" }],
    ["invalid_parameter", { content: "", author_email: "kim@example.com" }],
    ["invalid_parameter", { content: "x", author_email: "kim" }],
    ["invalid_parameter", { content: {}, author_email: "kim@example.com" }],
  ])("refuses a reply with %s: %j", async (code, body) => {
    expect((await reply(id, body)).body.code).toBe(code);
  });

  it("does not reply in an archived conversation", async () => {
    const conversation = await begin();
    for (const status of ["resolved", "archived"]) {
      await app.call("PATCH", `/v1/conversations/${conversation}`, { body: { status } });
    }
    const refused = await reply(conversation, { content: "Too late", author_email: "kim@example.com" });
    expect(refused).toMatchObject({ status: 409, body: { code: "invalid_transition" } });
  });
});

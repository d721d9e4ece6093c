import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { startHttp } from "#test/support/http/http-server.ts";

const handbook = `# Deliveries

## How long a delivery takes

A delivery within the country takes three working days. Deliveries to islands take five working days.

## Returning a parcel

You can return a parcel within thirty days. Print the return label from your account page.
`;

eachDatabase("the query", (open) => {
  let app: TestApp;
  let documentId: string;
  beforeAll(async () => {
    app = await startApp(open);
    documentId = await app.learn("deliveries.md", handbook);
  });
  afterAll(() => app.close());

  const ask = (body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
    app.post(
      "/v1/query",
      { workspace_id: app.workspace.id, query: "How long does a delivery take?", ...body },
      { headers },
    );
  const mac = (text: string) => createHmac("sha256", app.workspace.identitySecret).update(text);

  it("answers with the sources that support the answer", async () => {
    const { status, body } = await ask();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      answer: expect.stringContaining("three working days"),
      conversation_id: expect.stringMatching(/^conv_/),
      skills_fired: ["knowledge_search"],
      latency_ms: expect.any(Number),
      tokens_used: expect.any(Number),
    });
    expect(body.sources[0]).toMatchObject({
      title: expect.any(String),
      url: "",
      chunk: expect.stringContaining("three"),
      score: expect.any(Number),
    });
    expect(body.sources.length).toBeLessThanOrEqual(5);
  });

  it("accepts the text as `message` as well", async () => {
    const { status, body } = await app.post("/v1/query", {
      workspace_id: app.workspace.id,
      message: "How long does a delivery take?",
      user_id: "u1",
    });
    expect([status, body.answer.includes("three working days")]).toEqual([200, true]);
  });

  it("answers a second question from the document of the first answer", async () => {
    const kilns = "# Hire a kiln\n\nA kiln costs 24 euros a day.\n\n## Conditions\n\nShelves are included.";
    await app.learn("kilns.md", kilns);
    for (let i = 0; i < 20; i += 1) {
      await app.learn(`course-${i}.md`, `# Course ${i}\n\nTeacher ${i} shows all shelves of room ${i} and their use.`);
    }
    const { conversation_id: id } = (await ask({ query: "How much does it cost to hire a kiln?" })).body;
    const second = await ask({ conversation_id: id, query: "shelves?" });
    expect(second.body.answer).toContain("Shelves are included.");
  });

  it("names the nearest titles when it does not know, and answers by the number of one", async () => {
    const storm =
      "# Storms and ferries\n\nIn a storm of force nine the ferries stay in the harbour until it has passed.";
    await app.learn("storms.md", storm);
    const refused = (await ask({ query: "can the harbour master marry us on the ferries" })).body;
    expect(refused.answer).toContain("Did you mean one of these? Reply with its number.\n\n1. Storms and ferries");
    const { conversation_id: id } = refused;
    const chosen = (await ask({ conversation_id: id, query: "1" })).body;
    expect(chosen).toMatchObject({
      answer: expect.stringContaining("the ferries stay in the harbour"),
      confidence: "medium",
      sources: [{ title: "Storms and ferries" }],
    });
    expect((await ask({ conversation_id: id, query: "1" })).body.answer).not.toContain("harbour");
    const again = (await ask({ query: "can the harbour master marry us on the ferries" })).body.conversation_id;
    const named = (await ask({ conversation_id: again, query: "Storms and ferries" })).body;
    expect(named).toMatchObject({ answer: chosen.answer, confidence: "medium" });
    expect((await ask({ query: "1" })).body.answer).not.toContain("harbour");
  });

  it("does not take a quoted sentence of the bot for the customer's wish for a person", async () => {
    const { conversation_id: id, answer } = (await ask({ query: "Who won the match in Lima?" })).body;
    expect(answer).toContain("ask to talk to a human");
    const query = `How long does a delivery take?\n\nHelp desk, 12 May:\n${answer}`;
    expect((await ask({ conversation_id: id, query })).body.answer).toContain("three working days");
    expect((await app.get(`/v1/conversations/${id}`)).body).toMatchObject({
      status: "open",
      messages: expect.arrayContaining([expect.objectContaining({ content: query })]),
    });
  });

  it("continues a conversation by its id", async () => {
    const first = await ask();
    const second = await ask({ conversation_id: first.body.conversation_id, query: "How do I return a parcel?" });
    expect(second.body.conversation_id).toBe(first.body.conversation_id);
    const { messages } = (await app.get(`/v1/conversations/${first.body.conversation_id}`)).body;
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("refuses unknown conversations and those of other workspaces", async () => {
    const other = await app.createWorkspace();
    const foreign = await app.post("/v1/query", { workspace_id: other.id, query: "Hello" }, { key: other.key });
    for (const conversation_id of [foreign.body.conversation_id, "conv_none", ""]) {
      expect((await ask({ conversation_id })).body.code).toBe("conversation_not_found");
    }
  });

  it("says that a person will reply while an agent has the conversation", async () => {
    const { body } = await ask();
    await app.call("PATCH", `/v1/conversations/${body.conversation_id}`, {
      body: { status: "claimed", assigned_to: "kim@example.com" },
    });
    const { status, body: waiting } = await ask({ conversation_id: body.conversation_id });
    expect(status).toBe(200);
    expect(waiting).toMatchObject({ answer: expect.stringContaining("person"), sources: [], skills_fired: [] });
  });

  it("reopens a resolved conversation", async () => {
    const { conversation_id } = (await ask()).body;
    await app.call("PATCH", `/v1/conversations/${conversation_id}`, { body: { status: "resolved" } });
    expect((await ask({ conversation_id })).body.answer).toContain("three working days");
    expect((await app.get(`/v1/conversations/${conversation_id}`)).body.status).toBe("open");
  });

  it("counts the length in code points", async () => {
    expect((await ask({ query: "🦜".repeat(1_000) })).status).toBe(200);
    expect(await ask({ query: "🦜".repeat(1_001) })).toMatchObject({ status: 400, body: { code: "message_too_long" } });
    const message = (length: number) =>
      app.post("/v1/query", { workspace_id: app.workspace.id, message: "x".repeat(length) });
    expect((await message(4_000)).status).toBe(200);
    expect(await message(4_001)).toMatchObject({ status: 400, body: { code: "message_too_long" } });
  });

  it.each([
    [400, "missing_field", { query: null }],
    [422, "invalid_parameter", { query: "" }],
    [422, "invalid_parameter", { query: " \n" }],
    [422, "invalid_parameter", { query: 5 }],
    [422, "invalid_top_k", { top_k: 0 }],
    [422, "invalid_top_k", { top_k: 11 }],
    [422, "invalid_top_k", { top_k: "5" }],
    [422, "invalid_top_k", { top_k: 1.5 }],
    [422, "invalid_temperature", { temperature: 1.1 }],
    [422, "invalid_temperature", { temperature: -0.1 }],
    [422, "invalid_temperature", { temperature: "hot" }],
    [422, "invalid_strictness", { strictness: "lax" }],
    [422, "invalid_audience", { audience: ["nobody-has-this"] }],
    [422, "invalid_audience", { audience: "partner" }],
    [422, "invalid_audience", { audience: [5] }],
    [404, "document_not_found", { document_ids: ["doc_none"] }],
    [422, "invalid_parameter", { document_ids: "doc_none" }],
    [422, "invalid_parameter", { user: "Ada" }],
    [422, "invalid_parameter", { user: { user_id: 5 } }],
    [422, "invalid_parameter", { user: { user_id: "u", email: "no address" } }],
    [400, "missing_field", { user: { hash: "00" } }],
    [422, "invalid_parameter", { metadata: [] }],
    [422, "invalid_parameter", { metadata: { page: "x".repeat(17_000) } }],
    [400, "missing_field", { workspace_id: null }],
    [400, "invalid_workspace_id", { workspace_id: 5 }],
    [400, "invalid_workspace_id", { workspace_id: "x", query: null }],
    [404, "workspace_not_found", { workspace_id: "wt_zzzzzz_0123456789abcdef" }],
  ])("answers %i %s to %j", async (status, code, body) => {
    const answered = await ask(body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
    expect(answered.body.request_id).toBe(answered.headers.get("x-request-id"));
  });

  it("refuses the workspace of another key", async () => {
    const other = await app.createWorkspace();
    expect(await ask({ workspace_id: other.id })).toMatchObject({
      status: 403,
      body: { code: "workspace_access_denied" },
    });
  });

  it("accepts the parameters at their bounds", async () => {
    for (const body of [
      { top_k: 1, temperature: 0, strictness: "strict" },
      { top_k: 10, temperature: 1, strictness: "helpful" },
      { document_ids: [documentId], metadata: { page: "https://shop.example", cart: { items: [null, 1] } } },
    ]) {
      expect((await ask(body)).status).toBe(200);
    }
  });

  it("understands a follow-up question", async () => {
    const first = await ask({ query: "How do I return a parcel?" });
    const followUp = "How many days do I have for that?";
    const { body } = await ask({ conversation_id: first.body.conversation_id, query: followUp });
    expect(body.answer).toContain("thirty days");
    expect((await ask({ query: followUp })).body.answer).not.toContain("thirty days");
  });

  it("shows at most as many sources as top_k, and never more than five", async () => {
    for (const [top_k, most] of [
      [1, 1],
      [10, 5],
    ] as const) {
      const { body } = await ask({ top_k, query: "delivery parcel days label account", strictness: "helpful" });
      expect(body.sources.length).toBeLessThanOrEqual(most);
      expect(body.sources.length).toBeGreaterThan(0);
    }
  });

  it("ignores fields of a client's metadata that belong to channels", async () => {
    const { conversation_id } = (await ask({ metadata: { wants_person: true } })).body;
    const { status } = (await app.get(`/v1/conversations/${conversation_id}`)).body;
    expect(status).toBe("open");
  });

  it("stores metadata with the message", async () => {
    const metadata = { page: "https://shop.example/cart", cart: { items: [null, 1] } };
    const { conversation_id } = (await ask({ metadata })).body;
    const [question] = (await app.get(`/v1/conversations/${conversation_id}`)).body.messages;
    expect(question).toMatchObject({ role: "user", metadata });
  });

  it.each(["hex", "base64", "base64url"] as const)("accepts a hash of the user id as %s", async (encoding) => {
    const user = {
      user_id: `user ${encoding}`,
      hash: mac(`user ${encoding}`).digest(encoding),
      name: "Ada",
      email: "ada@example.com",
    };
    const { status, body } = await ask({ user });
    expect(status).toBe(200);
    const conversation = await app.get(`/v1/conversations/${body.conversation_id}`);
    expect(conversation.body).toMatchObject({ customer: { name: "Ada", email: "ada@example.com" } });
  });

  it("keeps the user of a conversation when a later request names none", async () => {
    const user = { user_id: "u7", hash: mac("u7").digest("hex"), name: "Ada", email: "ada@example.com" };
    const { conversation_id } = (await ask({ user })).body;
    const read = async () => (await app.get(`/v1/conversations/${conversation_id}`)).body;
    const contact = { contact_id: Reflect.get(await read(), "contact_id") as string };
    expect((await ask({ conversation_id })).status).toBe(200);
    expect((await ask({ conversation_id, user: { user_id: "u8", name: "Eve" } })).status).toBe(200);
    expect(await read()).toMatchObject({ customer: { name: "Ada", email: "ada@example.com" }, ...contact });
    // Another conversation of the same user belongs to the same contact.
    const next = await app.get(`/v1/conversations/${(await ask({ user })).body.conversation_id}`);
    expect(next.body).toMatchObject({ ...contact, previous_conversation_id: conversation_id });
  });

  it("keeps an unproven user anonymous", async () => {
    const { body } = await ask({ user: { user_id: "u2", name: "Eve", email: "eve@example.com" } });
    const conversation = await app.get(`/v1/conversations/${body.conversation_id}`);
    expect(conversation.body).toMatchObject({ customer: { name: null, email: null } });
  });

  it("accepts a verification token until it expires", async () => {
    const expiry = Math.floor(app.clock.now() / 1_000) + 60;
    const token = (at: number, userId = "u3") => `${at}.${mac(`${userId}.${at}`).digest("hex")}`;
    expect((await ask({ user_id: "u3", verification_token: token(expiry) })).status).toBe(200);
    for (const verification_token of [
      token(expiry - 120),
      token(expiry, "u4"),
      `${expiry + 1}${token(expiry).slice(String(expiry).length)}`,
      "x",
      `${expiry}.`,
    ]) {
      const refused = await ask({ user_id: "u3", verification_token });
      expect(refused).toMatchObject({ status: 403, body: { code: "verification_required" } });
    }
  });

  it.each([mac2("u5", "another secret"), "00", "", "g".repeat(64), "é".repeat(43)])(
    "refuses the hash %s",
    async (hash) => {
      expect(await ask({ user: { user_id: "u5", hash } })).toMatchObject({
        status: 403,
        body: { code: "verification_required" },
      });
    },
  );

  it("ends a query after 30 seconds with 504, and stops the work", async () => {
    let stopped = false;
    let begun = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const http = await startHttp(open, {
      query: (_query, signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            stopped = true;
          });
          begun();
        }),
    });
    const answer = http.post("/v1/query", { workspace_id: http.workspaceId, query: "Hello?" });
    await asked;
    http.clock.advance(30_000);
    expect(await answer).toMatchObject({ status: 504, body: { code: "query_timeout" } });
    expect(stopped).toBe(true);
    await http.close();
  });

  it("reveals nothing about an internal failure", async () => {
    const http = await startHttp(open, {
      query: async () => {
        throw new Error("password hunter2 at 10.0.0.7");
      },
    });
    const answered = await http.post("/v1/query", { workspace_id: http.workspaceId, query: "Hello?" });
    expect(answered).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(JSON.stringify(answered.body)).not.toContain("hunter2");
    expect(http.logged.some((line) => line.includes("hunter2") && line.includes(answered.body.request_id))).toBe(true);
    await http.close();
  });
});

function mac2(text: string, secret: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

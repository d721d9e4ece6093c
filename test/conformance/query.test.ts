import { beforeAll, expect, it } from "vitest";
import { agent, eachContract, humanPlease, idPattern } from "../support/http/contract.ts";

const handbook = `# Deliveries

## How long a delivery takes

A delivery within the country takes three working days. Deliveries to islands take five working days.

## Returning a parcel

You can return a parcel within thirty days. Print the return label from your account page.
`;

eachContract("4.7 the query", (at) => {
  let documentId: string;
  const question = "How long does a delivery take?";
  beforeAll(async () => {
    documentId = await at.app.learn("deliveries.md", handbook);
    await at.app.learn(
      "partners.md",
      "# Partner discount\n\nPartners get a discount of forty percent on every order.",
      ["partner"],
    );
  });
  const ask = (body: object = {}) => at.client.ask({ query: question, ...body });

  it("4.7 answers from the workspace's knowledge, with the sources, the conversation and the usage", async () => {
    const { status, body } = await ask();
    expect(status).toBe(200);
    expect(body).toEqual({
      answer: expect.stringContaining("three working days"),
      sources: expect.any(Array),
      conversation_id: expect.stringMatching(idPattern("conv")),
      message_id: expect.stringMatching(idPattern("msg")),
      skills_fired: ["knowledge_search"],
      latency_ms: expect.any(Number),
      tokens_used: expect.any(Number),
      confidence: expect.stringMatching(/^(high|medium|low)$/),
    });
    expect(Number.isInteger(Reflect.get(body, "latency_ms"))).toBe(true);
  });

  it("4.7 names one to five sources if something was retrieved", async () => {
    for (const top_k of [1, 5, 10]) {
      const { length } = (await ask({ top_k })).body.sources;
      expect(length).toBeGreaterThanOrEqual(1);
      expect(length).toBeLessThanOrEqual(Math.min(5, top_k));
    }
  });

  it("4.7 says that it does not know if nothing is found", async () => {
    const empty = await at.fresh({ settings: { unknownMessage: "I do not know that." } });
    const { status, body } = await empty.ask({ query: "Where does the submarine sleep?" });
    expect([status, body.answer, body.sources]).toEqual([200, "I do not know that.", []]);
  });

  it("4.7 starts a conversation without conversation_id, and continues one with it", async () => {
    const first = (await ask()).body.conversation_id;
    const second = (await ask()).body.conversation_id;
    expect(second).not.toBe(first);
    const third = await ask({ conversation_id: first, query: "How do I return a parcel?" });
    expect(third.body.conversation_id).toBe(first);
    const { messages } = await at.client.single(first);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("4.7.1 uses the context of earlier turns in a conversation", async () => {
    const { conversation_id } = (await ask()).body;
    const { body } = await ask({ conversation_id, query: "And to islands?" });
    expect(body.answer).toContain("five working days");
  });

  it.each(["conv_none", "", "conv_01hzzzzzzzzzzzzzzzzzzzzzzz"])(
    "4.7 answers 404 to the unknown conversation %j",
    async (id) => {
      const { status, body } = await ask({ conversation_id: id });
      expect([status, body.code]).toEqual([404, "conversation_not_found"]);
    },
  );

  it("4.7 answers another workspace's conversation exactly like an unknown one", async () => {
    const foreign = await (await at.fresh()).begin();
    const [a, b] = [await ask({ conversation_id: foreign }), await ask({ conversation_id: "conv_none" })];
    expect([a.status, a.body.code, a.body.detail]).toEqual([b.status, b.body.code, b.body.detail]);
  });

  it("4.7 compares a conversation's id exactly", async () => {
    const id = await at.client.begin();
    for (const other of [`${id} `, ` ${id}`, id.toUpperCase()]) {
      expect([other, (await ask({ conversation_id: other })).status]).toEqual([other, 404]);
    }
  });

  it("4.7 accepts message for query, and user_id at the top level", async () => {
    const body = { workspace_id: at.client.id, message: question, user_id: "u1" };
    const { status, body: answered } = await at.client.post("/v1/query", body);
    expect([status, answered.answer.includes("three working days")]).toEqual([200, true]);
  });

  it("4.7 limits query to 1,000 code points", async () => {
    for (const [text, status] of [
      ["x".repeat(1_000), 200],
      ["🦜".repeat(1_000), 200],
      ["x".repeat(1_001), 400],
      ["🦜".repeat(1_001), 400],
      // Two code points shown as one letter count as two.
      ["e\u0301".repeat(500), 200],
      ["e\u0301".repeat(501), 400],
    ] as const) {
      const answered = await ask({ query: text });
      expect([text.slice(0, 2), answered.status]).toEqual([text.slice(0, 2), status]);
      if (status === 400) expect(answered.body.code).toBe("message_too_long");
    }
  });

  it("4.7 limits message to 4,000 characters", async () => {
    const message = (length: number) =>
      at.client.post("/v1/query", { workspace_id: at.client.id, message: "🦜".repeat(length) });
    expect((await message(4_000)).status).toBe(200);
    const refused = await message(4_001);
    expect([refused.status, refused.body.code]).toEqual([400, "message_too_long"]);
  });

  it("4.7 prefers query if both are given", async () => {
    const { body } = await ask({ message: "Hello" });
    expect(body.answer).toContain("three working days");
  });

  it.each([
    [400, "missing_field", { query: null }],
    [422, "invalid_parameter", { query: "" }],
    [422, "invalid_parameter", { query: " \n" }],
    [422, "invalid_parameter", { query: 5 }],
    [422, "invalid_parameter", { query: ["x"] }],
    [422, "invalid_parameter", { query: { text: "x" } }],
    [422, "invalid_parameter", { conversation_id: 5 }],
    [422, "invalid_top_k", { top_k: 0 }],
    [422, "invalid_top_k", { top_k: 11 }],
    [422, "invalid_top_k", { top_k: -1 }],
    [422, "invalid_top_k", { top_k: "5" }],
    [422, "invalid_top_k", { top_k: 1.5 }],
    [422, "invalid_top_k", { top_k: true }],
    [422, "invalid_top_k", { top_k: [5] }],
    [422, "invalid_temperature", { temperature: 1.0001 }],
    [422, "invalid_temperature", { temperature: -0.0001 }],
    [422, "invalid_temperature", { temperature: "0.5" }],
    [422, "invalid_strictness", { strictness: "lax" }],
    [422, "invalid_strictness", { strictness: "Strict" }],
    [422, "invalid_strictness", { strictness: "" }],
    [422, "invalid_strictness", { strictness: 1 }],
    [422, "invalid_audience", { audience: ["nobody-has-this"] }],
    [422, "invalid_audience", { audience: ["partner", "nobody-has-this"] }],
    [422, "invalid_audience", { audience: "partner" }],
    [422, "invalid_audience", { audience: [5] }],
    [404, "document_not_found", { document_ids: ["doc_none"] }],
    [422, "invalid_parameter", { document_ids: "doc_none" }],
    [422, "invalid_parameter", { document_ids: [5] }],
    [422, "invalid_parameter", { user: "Ada" }],
    [422, "invalid_parameter", { user: [] }],
    [422, "invalid_parameter", { user: { user_id: 5 } }],
    [422, "invalid_parameter", { user_id: 5 }],
    [422, "invalid_parameter", { user: { user_id: "u", email: "no address" } }],
    [400, "missing_field", { user: { hash: "00" } }],
    [400, "missing_field", { verification_token: "1.2" }],
    [422, "invalid_parameter", { metadata: [] }],
    [422, "invalid_parameter", { metadata: "page" }],
    [400, "missing_field", { workspace_id: null }],
    [400, "invalid_workspace_id", { workspace_id: 5 }],
    [400, "invalid_workspace_id", { workspace_id: "x" }],
    [400, "invalid_workspace_id", { workspace_id: ["wt_abcdef_0123456789"] }],
    [404, "workspace_not_found", { workspace_id: "wt_zzzzzz_0123456789abcdef" }],
  ])("7 answers %i %s to the query with %j", async (status, code, body) => {
    const answered = await ask(body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
  });

  it("7 does not store a refused question", async () => {
    const client = await at.fresh();
    for (const body of [{ top_k: 11 }, { query: "" }, { audience: ["none"] }, { document_ids: ["doc_none"] }]) {
      expect((await client.ask(body)).status).toBeGreaterThanOrEqual(400);
    }
    const refused = await client.ask({ user: { user_id: "u", hash: "00" } });
    expect(refused.body.code).toBe("verification_required");
    expect(await client.found()).toEqual([]);
  });

  it("4.7.6 refuses the workspace of another key", async () => {
    const other = await at.fresh();
    const { status, body } = await ask({ workspace_id: other.id });
    expect([status, body.code]).toEqual([403, "workspace_access_denied"]);
    expect(await other.found()).toEqual([]);
  });

  it("4.7 accepts every parameter at its bounds, and null for absent", async () => {
    for (const body of [
      { top_k: 1, temperature: 0, strictness: "strict" },
      { top_k: 10, temperature: 1, strictness: "helpful", audience: [] },
      { top_k: 5.0, temperature: 0.5 },
      { document_ids: [documentId], metadata: { page: "https://shop.example", cart: { items: [null, 1] } } },
      { conversation_id: null, user: null, metadata: null, top_k: null, temperature: null, audience: null },
      { user: {}, metadata: {} },
    ]) {
      expect([body, (await ask(body)).status]).toEqual([body, 200]);
    }
  });

  it("4.7 searches only the named documents", async () => {
    const other = await at.app.learn("owls.md", "# Owls\n\nOwls sleep by day.");
    expect((await ask({ document_ids: [other] })).body.answer).not.toContain("three working days");
    expect((await ask({ document_ids: [other, documentId] })).body.answer).toContain("three working days");
  });

  it("4.7 does not find another workspace's documents", async () => {
    const client = await at.fresh();
    const { status, body } = await client.ask({ document_ids: [documentId] });
    expect([status, body.code]).toEqual([404, "document_not_found"]);
  });

  it("4.7.2 shows gated documents to verified users of the audience, and to no unverified user", async () => {
    const query = "What discount do partners get on every order?";
    const user = { user_id: "p1", hash: at.client.mac("p1"), attributes: { plan: "partner" } };
    expect((await ask({ query, audience: ["partner"] })).body.answer).not.toContain("forty");
    expect((await ask({ query, user, audience: [] })).body.answer).not.toContain("forty");
    expect((await ask({ query, user, audience: ["partner"] })).body.answer).toContain("forty");
  });

  it.each(["hex", "base64", "base64url"] as const)("4.7.2 accepts the HMAC of the user id in %s", async (encoding) => {
    const user_id = `user ${encoding} ü`;
    const user = { user_id, hash: at.client.mac(user_id, encoding), name: "Ada", email: "Ada@Example.com" };
    const { status, body } = await ask({ user });
    expect(status).toBe(200);
    expect(await at.client.single(body.conversation_id)).toMatchObject({ customer: { name: "Ada" } });
    const hex = at.client.mac(user_id).toUpperCase();
    expect((await ask({ user: { user_id, hash: encoding === "hex" ? hex : user.hash } })).status).toBe(200);
  });

  it("4.7.2 refuses any hash that does not verify", async () => {
    const other = await at.fresh();
    const right = at.client.mac("u5");
    for (const hash of [
      other.mac("u5"),
      at.client.mac("u6"),
      at.client.mac("u5 "),
      `${right.slice(0, -1)}${right.endsWith("0") ? "1" : "0"}`,
      `${right.startsWith("0") ? "1" : "0"}${right.slice(1)}`,
      right.slice(0, -2),
      `${right}00`,
      ` ${right}`,
      "00",
      "",
      "g".repeat(64),
      "é".repeat(43),
    ]) {
      const { status, body } = await ask({ user: { user_id: "u5", hash } });
      expect([hash, status, body.code]).toEqual([hash, 403, "verification_required"]);
    }
  });

  it("4.7.2 distinguishes users whose ids differ in a space, in case or in an accent", async () => {
    const names = ["ada", "ada ", "Ada", "àda", "ada\u0000"];
    const contacts = [];
    for (const user_id of names) {
      const id = await at.client.begin("Hello", {
        user: { user_id, hash: at.client.mac(user_id), name: `<${user_id}>` },
      });
      contacts.push((await at.client.single(id)).contact_id);
    }
    expect(new Set(contacts).size).toBe(names.length);
    for (const [i, user_id] of names.entries()) {
      const id = await at.client.begin("Hello", { user: { user_id, hash: at.client.mac(user_id) } });
      expect(await at.client.single(id)).toMatchObject({ contact_id: contacts[i], customer: { name: `<${user_id}>` } });
    }
  });

  it("4.7.2 accepts a verification token until it expires, for its own user only", async () => {
    const expiry = Math.floor(at.app.clock.now() / 1_000) + 60;
    const token = (end: number, userId = "u3") => `${end}.${at.client.mac(`${userId}.${end}`)}`;
    const given = (verification_token: string) => ask({ user_id: "u3", verification_token });
    expect((await given(token(expiry))).status).toBe(200);
    for (const wrong of [
      token(expiry - 120),
      token(expiry, "u4"),
      `${expiry + 1}${token(expiry).slice(String(expiry).length)}`,
      "x",
      "",
      `${expiry}.`,
      `.${at.client.mac(`u3.${expiry}`)}`,
    ]) {
      const { status, body } = await given(wrong);
      expect([wrong, status, body.code]).toEqual([wrong, 403, "verification_required"]);
    }
    at.app.clock.advance(60_000);
    expect((await given(token(expiry))).status).toBe(403);
  });

  it("4.7.2 keeps an unverified user anonymous", async () => {
    const { body } = await ask({ user: { user_id: "u2", name: "Eve", email: "eve@example.com" } });
    expect(await at.client.single(body.conversation_id)).toMatchObject({ customer: { name: null, email: null } });
  });

  it("4.7.2 keeps a conversation's user if a later turn names none, or an unverified one", async () => {
    const user = { user_id: "u7", hash: at.client.mac("u7"), name: "Ada", email: "ada@example.com" };
    const { conversation_id } = (await ask({ user })).body;
    const { contact_id } = await at.client.single(conversation_id);
    await ask({ conversation_id });
    await ask({ conversation_id, user: { user_id: "u8", name: "Eve" } });
    expect(await at.client.single(conversation_id)).toMatchObject({ contact_id, customer: { name: "Ada" } });
  });

  it.each(["claimed", "escalated"])("4.7 announces a person's reply if the conversation is %s", async (status) => {
    const id = await at.client.in(status);
    const { status: http, body } = await ask({ conversation_id: id });
    expect(http).toBe(200);
    expect(body).toMatchObject({
      answer: expect.stringContaining("person will reply"),
      sources: [],
      skills_fired: [],
    });
    const { messages } = await at.client.single(id);
    expect(messages.at(-1)).toMatchObject({ role: "user", content: question });
  });

  it.each(["resolved", "archived", "snoozed"])(
    "4.7 returns %s conversations to open before it answers",
    async (status) => {
      const id = await at.client.in(status);
      expect((await ask({ conversation_id: id })).body.answer).toContain("three working days");
      expect((await at.client.single(id)).status).toBe("open");
    },
  );

  it("4.7 answers an escalating question with the handover text", async () => {
    const { body } = await ask({ query: humanPlease });
    const { messages, status } = await at.client.single(body.conversation_id);
    expect([status, messages.at(-1)?.content]).toEqual(["escalated", body.answer]);
    expect(body.answer).toContain("A person will reply");
  });

  it("4.7 answers each of several concurrent questions in one conversation", async () => {
    const id = await at.client.begin();
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask({ conversation_id: id })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { messages } = await at.client.single(id);
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(6);
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(6);
  });

  it("4.7 leaves a conversation to an agent who claims it meanwhile", async () => {
    const id = await at.client.begin();
    await at.client.patch(id, { status: "claimed", assigned_to: agent });
    expect((await ask({ conversation_id: id })).body).toMatchObject({ message_id: null, confidence: null });
  });
});

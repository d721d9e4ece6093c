import { beforeAll, expect, it } from "vitest";
import { clientOf, eachContract, idPattern, shownNow } from "../support/http/contract.ts";

eachContract("4.4 notes", (at) => {
  let id: string;
  beforeAll(async () => {
    id = await at.client.begin();
  });
  const add = (body: unknown, conversation = id) => at.client.post(`/v1/conversations/${conversation}/notes`, body);

  it("4.4 answers 201 with the note", async () => {
    const { status, body } = await add({ content: "One" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(idPattern("note")),
      conversation_id: id,
      content: "One",
      author: "api_key:Test key",
      created_at: shownNow(at.app),
    });
  });

  it("4.4 names the key as the author", async () => {
    for (const name of ["Zendesk import", "ключ 🔑", "a:b", "x".repeat(100)]) {
      const { key } = await at.app.createKey({ name });
      const { body } = await clientOf(at.app, { ...at.client, key }).post(`/v1/conversations/${id}/notes`, {
        content: "Mine",
      });
      expect(body.author).toBe(`api_key:${name}`);
    }
  });

  it("4.4 names the agent instead if author_email is given", async () => {
    expect((await add({ content: "Two", author_email: "Kim@Example.com" })).body.author).toBe("kim@example.com");
    expect((await add({ content: "Three", author_email: null })).body.author).toBe("api_key:Test key");
  });

  it("4.4 keeps the order of notes, also within one millisecond", async () => {
    const conversation = await at.client.begin();
    for (let i = 0; i < 12; i += 1) await add({ content: `Note ${i}` }, conversation);
    const { internal_notes } = await at.client.single(conversation);
    expect(internal_notes.map(({ content }) => content)).toEqual(Array.from({ length: 12 }, (_, i) => `Note ${i}`));
  });

  it("4.4 accepts notes in every status, and changes none", async () => {
    for (const status of ["claimed", "escalated", "snoozed", "resolved", "archived"]) {
      const conversation = await at.client.in(status);
      expect((await add({ content: "A note" }, conversation)).status).toBe(201);
      expect((await at.client.single(conversation)).status).toBe(status);
    }
  });

  it.each([
    [400, "missing_field", {}],
    [400, "missing_field", { content: null }],
    [400, "missing_field", { author_email: "kim@example.com" }],
    [422, "invalid_parameter", { content: "" }],
    [422, "invalid_parameter", { content: "  " }],
    [422, "invalid_parameter", { content: 5 }],
    [422, "invalid_parameter", { content: ["x"] }],
    [422, "invalid_parameter", { content: "x".repeat(20_001) }],
    [422, "invalid_parameter", { content: "x", author_email: "nobody" }],
    [422, "invalid_parameter", { content: "x", author_email: "" }],
    [422, "invalid_parameter", { content: "x", author_email: "a b@example.com" }],
    [400, "invalid_json", []],
    [400, "invalid_json", "null"],
    [400, "invalid_json", ""],
    [400, "invalid_json", "{"],
  ])("4.4 answers %i %s to the note %j, and stores nothing", async (status, code, body) => {
    const conversation = await at.client.begin();
    const answered = await add(body, conversation);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
    expect((await at.client.single(conversation)).internal_notes).toEqual([]);
  });

  it("4.4 counts the length in code points", async () => {
    const conversation = await at.client.begin();
    expect((await add({ content: "🗒".repeat(20_000) }, conversation)).status).toBe(201);
    expect((await add({ content: "🗒".repeat(20_001) }, conversation)).status).toBe(422);
  });

  it("4.4 answers 404 to an unknown conversation", async () => {
    const answered = await add({ content: "Lost" }, "conv_none");
    expect([answered.status, answered.body.code]).toEqual([404, "conversation_not_found"]);
  });
});

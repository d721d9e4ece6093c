import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answered, TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { inTime } from "#test/support/in-time.ts";
import type { ModelRequest, ModelServer } from "#test/support/servers/model-server.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";

const help = `# Blue Kettle help

## How long does delivery take?

Delivery within the country takes one to three working days. Abroad it takes up to eight working days.

## What does shipping cost?

Shipping is free from 40 €. Below that it costs 4.90 €.

## How do I return an item?

You can return any item within 30 days of receiving it. Gift cards cannot be returned.
`;
const partners = `# Partner terms

## Which discount do partners get?

Partners get a discount of 35 % on every kettle.
`;
const delivery = "Delivery within the country takes one to three working days.";
const otherWords = "my parcel still has not turned up, when will it be here";
const { unknownMessage } = defaultSettings;

describe("a question in other words than the documents'", () => {
  let server: ModelServer;
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    server = await startModelServer();
    app = await startApp(newSqlite, {
      publicUrl: "http://127.0.0.1:8080",
      model: { provider: "openai-compatible", baseUrl: server.url, name: "test-model", apiKey: "sk-test-1" },
    });
    await app.learn("help.md", help);
    await app.learn("partners.md", partners, ["partner"]);
    admin = await dashboardUser(app, "admin", { workspaceId: app.workspace.id });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });
  beforeEach(() => {
    server.answer = (request) => says(cite(request, delivery));
    server.search = () => says("How long does delivery take?");
  });
  // A provider that was paused by one test must not be paused in the next.
  afterEach(() => app.clock.advance(600_000));

  const cite = (request: ModelRequest, text: string): string => `${text} [${request.passage(text)}]`;
  const ask = (query: string, more: object = {}): Promise<Answered> =>
    app.post("/v1/query", { workspace_id: app.workspace.id, query, ...more });

  it("is answered from the passage that the model searches for, and the tokens of both calls count", async () => {
    const answered = await ask(otherWords);
    expect(answered.body).toMatchObject({
      answer: `${delivery} [1]`,
      sources: [{ title: "Blue Kettle help › How long does delivery take?" }],
      confidence: "medium",
      tokens_used: 100,
    });
  });

  it("is put to the model with the headings of the documents, and without personal data", async () => {
    await ask("my parcel to anna@mail.example has not turned up, what about the return of it");
    const { system, user } = server.searches.at(-1) ?? { system: "", user: "" };
    expect(user).toContain("Blue Kettle help › How do I return an item?");
    expect(user).toMatch(/my parcel to EMAIL_\w+ has not turned up/u);
    expect(`${system}${user}`).not.toContain("anna@mail");
    expect(`${system}${user}`).not.toContain(app.workspace.id);
  });

  it("is searched for once while it is remembered", async () => {
    const query = `${otherWords} today`;
    await ask(query);
    const before = server.searches.length;
    expect((await ask(query)).body).toMatchObject({ answer: `${delivery} [1]`, tokens_used: 50 });
    expect(server.searches.length).toBe(before);
  });

  it("takes its subject from the conversation", async () => {
    const { conversation_id } = (await ask("How long does delivery take?")).body;
    server.search = ({ user }) =>
      says(user.includes("Customer: How long does delivery take?") ? "shipping cost" : "NONE");
    server.answer = (request) => says(cite(request, "Shipping is free from 40 €."));
    expect((await ask("and do I pay for that myself?", { conversation_id })).body).toMatchObject({
      answer: "Shipping is free from 40 €. [1]",
    });
  });

  it("is refused without a further call when it asks nothing of the documents", async () => {
    server.search = () => says("NONE");
    const before = server.requests.length;
    expect((await ask("who won the match in Lima")).body).toMatchObject({
      answer: expect.stringContaining(unknownMessage),
      confidence: "low",
      tokens_used: 50,
    });
    expect(server.requests.length).toBe(before);
  });

  it("is refused when the model finds no answer in the passages, which name the nearest headings", async () => {
    server.answer = () => says("NO_ANSWER");
    const { body } = await ask("will the parcel be here by tonight");
    expect(body.answer).toContain(unknownMessage);
    expect(body.answer).toContain("1. How long does delivery take?");
  });

  it("is refused when the passages do not support what the model writes", async () => {
    server.answer = (request) => says(`It arrives by drone within two hours. [${request.passage(delivery)}]`);
    expect((await ask(`${otherWords} now`)).body).toMatchObject({
      answer: expect.stringContaining(unknownMessage),
      confidence: "low",
    });
  });

  it("finds no passage that its asker may not see", async () => {
    const question = "what percentage comes off for resellers";
    const discount = "Partners get a discount of 35 % on every kettle.";
    server.search = () => says("Which discount do partners get?");
    server.answer = (request) => says(request.user.includes(discount) ? cite(request, discount) : "NO_ANSWER");
    expect((await ask(question)).text).not.toContain("35 %");
    const tried = { question, audience: ["partner"] };
    expect((await admin.call("POST", "questions/try", tried)).body).toMatchObject({ replies: [`${discount} [1]`] });
  });

  it("is not searched for when its own words are enough", async () => {
    const before = server.searches.length;
    expect((await ask("How long does delivery take?")).body).toMatchObject({ confidence: "high", tokens_used: 50 });
    expect(server.searches.length).toBe(before);
  });

  it("shows an administrator the queries, three at most, without the model's numbers and quotation marks", async () => {
    server.search = () => says('1. "How long does delivery take?"\n', "- Which kettle?\n\n", "Which\nWhich lid?");
    const { body } = await admin.call("POST", "questions/try", { question: `${otherWords} please` });
    expect(body).toMatchObject({
      decision: {
        kind: "answer",
        text: expect.stringContaining(
          'The language model searched for "How long does delivery take?", "Which kettle?", "Which", and finds the answer',
        ),
      },
      passages: expect.arrayContaining([
        expect.objectContaining({ title: "Blue Kettle help › How long does delivery take?", used: true }),
      ]),
    });
  });

  it("gets the model's error over the API, unless its own words are enough", async () => {
    server.answer = () => ({ kind: "status", status: 500 });
    const unwritten = await inTime(app.clock, ask(`${otherWords} at last`));
    expect([unwritten.status, unwritten.body.code]).toEqual([500, "model_provider_error"]);
    app.clock.advance(600_000);
    server.answer = (request) => says(cite(request, delivery));
    server.search = () => ({ kind: "status", status: 500 });
    const unsearched = await inTime(app.clock, ask(`${otherWords} at all`));
    expect([unsearched.status, unsearched.body.code]).toEqual([500, "model_provider_error"]);
    const { conversation_id } = (await ask("What does shipping cost?")).body;
    const followUp = await inTime(app.clock, ask("and how long does delivery take?", { conversation_id }));
    expect(followUp.body).toMatchObject({ answer: `${delivery} [1]` });
  });
});

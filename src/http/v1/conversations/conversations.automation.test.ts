import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { readConfigFile } from "#config/file.ts";
import type { Answered, TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { ModelServer } from "#test/support/servers/model-server.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";

const file = `
workspaces:
  - name: T
    rules:
      - name: press
        when: {message: customer}
        if: {words: journalist}
        then: [{escalate: the press}]
      - name: hours
        when: {message: customer}
        if: {words: visit us}
        then: [{reply: Come by any day.}, {tag: visit}]
      - name: notice
        when: {message: customer}
        if: {words: lawyer, plans: pro}
        then: [{notify: Somebody names a lawyer.}]
`;
const [declared] = readConfigFile("c.yaml", file, {}).workspaces;

eachDatabase("rules and angry customers over the API", (open) => {
  let app: TestApp;
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
    app = await startApp(open, {
      settings: { rules: declared?.rules ?? [] },
      model: { provider: "openai-compatible", baseUrl: model.url, name: "test", apiKey: "sk-test" },
    });
    await app.learn("help.md", "# Help\n\n## How long does delivery take?\n\nDelivery takes three days.\n");
  });
  afterAll(async () => {
    await app.close();
    await model.close();
  });
  beforeEach(() => {
    model.answer = (request) => says(`Delivery takes three days. [${request.passage("three days")}]`);
  });

  const ask = (query: string, more: object = {}): Promise<Answered> =>
    app.post("/v1/query", { workspace_id: app.workspace.id, query, ...more });
  const single = async (answered: Answered) =>
    (await app.get(`/v1/conversations/${answered.body.conversation_id}`)).body;

  it("answer with the hand-over message when a rule escalates a question, without a bot answer", async () => {
    const before = model.requests.length;
    const answered = await ask("I am a journalist. How long does delivery take?");
    expect(answered.status).toBe(200);
    expect(answered.body).toMatchObject({ answer: defaultSettings.handoverMessage, sources: [], skills_fired: [] });
    expect(model.requests).toHaveLength(before);
    const conversation = await single(answered);
    expect(conversation).toMatchObject({ status: "escalated", tags: ["escalated"] });
    expect(conversation.audit_log).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: "rule_fired", actor: { type: "system", id: "rule:press", name: null } }),
        expect.objectContaining({ action: "status_changed", to: "escalated", detail: "the press" }),
      ]),
    );
    const next = await ask("Hello?", { conversation_id: answered.body.conversation_id });
    expect(next.body.answer).toBe(defaultSettings.waitingMessage);
  });

  it("answer with a rule's reply, and send it once when the request is repeated", async () => {
    const headers = { "idempotency-key": "visit-1" };
    const body = {
      workspace_id: app.workspace.id,
      query: "Can we visit us... I mean: visit you? We'd like to visit us",
    };
    const first = await app.post("/v1/query", body, { headers });
    expect(first.body.answer).toBe("Come by any day.");
    const again = await app.post("/v1/query", body, { headers });
    expect(again.body.answer).toBe("Come by any day.");
    const { messages, tags } = await single(first);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(tags).toEqual(["visit"]);
    const next = await ask("How long does delivery take?", { conversation_id: first.body.conversation_id });
    expect(next.body.answer).toContain("three days");
  });

  it("apply to each of several concurrent questions, and answer each once", async () => {
    const begun = await ask("How long does delivery take?");
    const conversationId = begun.body.conversation_id;
    const questions = ["May we visit us?", "How long does delivery take?", "When may we visit us?"];
    const { signal } = new AbortController();
    // The questions gather while this one is being stored.
    const gathered = Promise.withResolvers<void>();
    const held = app.store.write(async (tx) => {
      await tx.selectFrom("workspaces").select("id").limit(1).execute();
      await gathered.promise;
    });
    const asked = questions.map((text) =>
      app.engine.query({ workspaceId: app.workspace.id, conversationId, text }, signal),
    );
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    gathered.resolve();
    await held;
    const answers = await Promise.all(asked);
    expect(answers.map(({ answer }) => answer)).toEqual([
      "Come by any day.",
      expect.stringContaining("three days"),
      "Come by any day.",
    ]);
    const { messages, audit_log } = await single(begun);
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(4);
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(4);
    expect(audit_log.filter(({ action }) => action === "rule_fired")).toHaveLength(2);
  });

  it("match the plan of verified customers only", async () => {
    const answered = await ask("I talk to my lawyer", { user: { user_id: "u1", attributes: { plan: "pro" } } });
    expect(answered.status).toBe(403);
    const plain = await ask("I talk to my lawyer");
    expect((await single(plain)).internal_notes).toEqual([]);
  });

  it("escalate an angry customer, and record the reason", async () => {
    const answered = await ask("This is a scam! I have been waiting for weeks, your support is USELESS!!!");
    expect(answered.body.answer).toBe(defaultSettings.handoverMessage);
    const { audit_log } = await single(answered);
    expect(audit_log).toContainEqual(
      expect.objectContaining({
        action: "status_changed",
        to: "escalated",
        detail: "the customer seems to be angry or frustrated",
      }),
    );
  });

  it("let the language model judge if configured, and fall back to the list of words", async () => {
    const calm = "Nice, three weeks of silence. How long does delivery take?";
    const asked = await app.createWorkspace({ settings: { angerJudgedBy: "model", rules: [] } });
    const put = (query: string) => app.post("/v1/query", { workspace_id: asked.id, query }, { key: asked.key });
    model.answer = (request) => says(request.system.includes("how angry") ? "9" : "NO_ANSWER");
    expect((await put(calm)).body.answer).toBe(defaultSettings.handoverMessage);
    const judged = model.requests.at(-1);
    expect(judged?.user).toContain("three weeks of silence");
    model.answer = () => says("I would rather not say");
    expect((await put(calm)).body.answer).toBe(defaultSettings.unknownMessage);
  });

  it("leave angry customers to the bot when the setting is off", async () => {
    const calm = await app.createWorkspace({ settings: { angerToEscalate: null } });
    const angry = "This is a scam, a disgrace and totally USELESS!!!";
    const answered = await app.post("/v1/query", { workspace_id: calm.id, query: angry }, { key: calm.key });
    expect(answered.body.answer).toBe(defaultSettings.unknownMessage);
  });
});

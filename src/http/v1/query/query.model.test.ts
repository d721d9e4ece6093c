import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answered, TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import { inTime } from "#test/support/in-time.ts";
import type { Behaviour, ModelRequest, ModelServer } from "#test/support/servers/model-server.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";

const key = "sk-test-83c1f0e5d2";
const help = `# Blue Kettle help

## How long does delivery take?

Delivery within the country takes one to three working days. Abroad it takes up to eight working days.

## What does shipping cost?

Shipping is free from 40 €. Below that it costs 4.90 €.

## How do I return an item?

You can return any item within 30 days of receiving it. Gift cards cannot be returned.
`;
const { unknownMessage } = defaultSettings;

interface WholeAnswer {
  readonly answer: string;
  readonly sources: readonly {
    readonly title: string;
    readonly url: string;
    readonly chunk: string;
    readonly score: number;
  }[];
  readonly skills_fired: readonly string[];
  readonly tokens_used: number;
  readonly confidence: string;
  readonly conversation_id: string;
}

const read = ({ body }: Answered): WholeAnswer => body as unknown as WholeAnswer;
const delivery = "Delivery within the country takes one to three working days.";
const cite = (request: ModelRequest, text: string, of = text): string => `${text} [${request.passage(of)}]`;

interface Event {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function eventsOf(text: string): Event[] {
  return text
    .split("\n\n")
    .filter((each) => each !== "")
    .map((each) => {
      const [event = "", data = ""] = each.split("\n");
      return { event: event.slice(7), data: JSON.parse(data.slice(6)) as Event["data"] };
    });
}

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

function start(open: Parameters<typeof startApp>[0], more: Partial<{ baseUrl: string }> = {}): Promise<TestApp> {
  return startApp(open, {
    publicUrl: "http://127.0.0.1:8080",
    model: { provider: "openai-compatible", baseUrl: server.url, name: "test-model", apiKey: key, ...more },
  });
}

eachDatabase("a question to a language model", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await start(open);
    await app.learn("help.md", help);
  });
  afterAll(() => app.close());

  it("is answered in the model's words, with the passages that it names as sources", async () => {
    server.answer = (request) => ({
      kind: "text",
      pieces: [
        "Sure! ",
        cite(request, "Within the country, delivery takes 1-3 working days.", "one to three"),
        "\n\n",
        cite(request, "Shipping is free from 40 €."),
      ],
      tokens: { input: 300, output: 21 },
    });
    const answered = await app.post("/v1/query", {
      workspace_id: app.workspace.id,
      query: "How long does delivery take, and what does shipping cost?",
    });
    expect(answered.status).toBe(200);
    expect(read(answered)).toMatchObject({
      answer: "Sure! Within the country, delivery takes 1-3 working days. [1]\n\nShipping is free from 40 €. [2]",
      sources: [
        { title: "Blue Kettle help › How long does delivery take?", chunk: expect.stringContaining("Abroad") },
        { title: "Blue Kettle help › What does shipping cost?" },
      ],
      skills_fired: ["knowledge_search"],
      tokens_used: 321,
      confidence: expect.stringMatching(/^(?:high|medium)$/),
    });
    const stored = await app.get(`/v1/conversations/${read(answered).conversation_id}`);
    expect(stored.body.messages.at(-1)?.content).toBe(read(answered).answer);
  });
});

describe("a language model behind the API", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await start(newSqlite);
    await app.learn("help.md", help);
  });
  afterAll(() => app.close());
  afterEach(async () => {
    // One success, so that no test starts with a provider paused by an earlier test.
    app.clock.advance(600_000);
    server.answer = (request) => says(cite(request, delivery));
    const { status } = await ask("How long does delivery take?");
    if (status !== 200) throw new Error(`the model is not well again: ${status}`);
  });

  const ask = (query: string, more: object = {}, path = "/v1/query"): Promise<Answered> =>
    app.post(path, { workspace_id: app.workspace.id, query, ...more });
  const question = "How long does delivery take?";

  it("gets the passages, the question and the client's temperature, by default 0", async () => {
    server.answer = (request) => says(cite(request, delivery));
    await ask(question);
    const first = server.requests.at(-1);
    expect(first?.body).toMatchObject({ model: "test-model", temperature: 0 });
    expect(first?.user).toContain("Abroad it takes up to eight working days.");
    expect(first?.user).toContain(question);
    expect(`${first?.user}${first?.system}`).not.toContain(app.workspace.id);
    await ask(question, { temperature: 0.7 });
    expect(server.requests.at(-1)?.body.temperature).toBe(0.7);
  });

  it("gets at most top_k passages", async () => {
    server.answer = () => says("NO_ANSWER");
    await ask(question, { top_k: 1 });
    expect(server.requests.at(-1)?.user.match(/--- passage \d/gu)).toHaveLength(1);
  });

  it("gets the earlier messages, and is not called without passages", async () => {
    server.answer = (request) => says(cite(request, delivery));
    const { conversation_id } = read(await ask(question));
    server.answer = (request) => says(cite(request, "Abroad it takes up to eight working days."));
    await ask("and abroad?", { conversation_id });
    expect(server.requests.at(-1)?.user).toContain(`Customer: ${question}`);
    expect(server.requests.at(-1)?.user).toContain(`Support: ${delivery}`);
    const before = server.requests.length;
    expect(read(await ask("Who won the football match in Lima?"))).toMatchObject({
      answer: expect.stringContaining(unknownMessage),
      confidence: "low",
      tokens_used: 0,
      skills_fired: ["knowledge_search"],
    });
    expect(read(await ask("Hello!")).answer).toContain("Hello");
    expect(server.requests.length).toBe(before);
  });

  it.each<[string, (request: ModelRequest) => Behaviour]>([
    ["says that it does not know", () => says("NO_ANSWER")],
    ["refuses", () => ({ kind: "text", pieces: ["I cannot help"], finish: "refused" })],
  ])("gets the workspace's fallback sentence when the model %s", async (_what, answer) => {
    server.answer = answer;
    expect(read(await ask(question))).toMatchObject({
      answer: expect.stringContaining(unknownMessage),
      confidence: "low",
      tokens_used: 50,
      sources: expect.arrayContaining([
        expect.objectContaining({ title: "Blue Kettle help › How long does delivery take?" }),
      ]),
    });
    const events = eventsOf((await ask(question, {}, "/v1/query/stream")).text);
    expect(
      events
        .filter(({ event }) => event === "token")
        .map(({ data }) => data["delta"])
        .join(""),
    ).toContain(unknownMessage);
  });

  it.each<[string, (request: ModelRequest) => Behaviour]>([
    ["invents", (request) => says(cite(request, "Delivery takes two hours by drone.", delivery))],
    ["names no source", () => says(delivery)],
    ["only talks", () => says("Great question! Let me know if you have any other questions.")],
  ])("is replaced by the documents' own sentences when it %s", async (_what, answer) => {
    server.answer = answer;
    const body = read(await ask(question));
    expect(body).toMatchObject({
      answer: expect.stringContaining(delivery),
      tokens_used: 50,
      sources: [{ title: "Blue Kettle help › How long does delivery take?" }],
    });
    expect(body.answer).not.toContain("drone");
    const events = eventsOf((await ask(question, {}, "/v1/query/stream")).text);
    const streamed = events.filter(({ event }) => event === "token").map(({ data }) => data["delta"]);
    expect(streamed.join("")).toBe(body.answer);
  });

  it("gets a lower confidence the more of its text is dropped", async () => {
    server.answer = (request) => says(cite(request, delivery));
    expect(read(await ask(question)).confidence).toBe("high");
    server.answer = (request) => says(`${cite(request, delivery)} We ship by drone. Ask Carla. Call +1 555 0100.`);
    expect(read(await ask(question))).toMatchObject({ answer: `${delivery} [1]`, confidence: "low" });
  });

  it("streams each sentence after its check", async () => {
    const rest = Promise.withResolvers<void>();
    server.answer = (request) => ({
      kind: "text",
      pieces: [`${cite(request, delivery)} We ship by `, "drone. ", cite(request, "Shipping is free from 40 €."), "\n"],
      hold: rest.promise,
    });
    const response = await fetch(`${app.url}/v1/query/stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.workspace.key}`, "content-type": "application/json" },
      body: JSON.stringify({ workspace_id: app.workspace.id, query: question }),
    });
    let text = "";
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    while (!text.includes("40 €")) text += (await reader?.read())?.value ?? "";
    expect(eventsOf(text).map(({ data }) => data["delta"])).toEqual([
      `${delivery} [1]`,
      " Shipping is free from 40 €. [2]",
    ]);
    rest.resolve();
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) text += next.value;
    expect(eventsOf(text).at(-1)).toMatchObject({
      event: "done",
      data: { answer: `${delivery} [1] Shipping is free from 40 €. [2]`, tokens_used: 50 },
    });
  });

  it("is stopped when the client disconnects", async () => {
    server.answer = (request) => ({ kind: "silence", after: `${cite(request, delivery)} And ` });
    const gone = new AbortController();
    const response = await fetch(`${app.url}/v1/query/stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.workspace.key}`, "content-type": "application/json" },
      body: JSON.stringify({ workspace_id: app.workspace.id, query: question }),
      signal: gone.signal,
    });
    await response.body?.getReader().read();
    gone.abort();
    await server.abandoned(1);
    expect(response.status).toBe(200);
  });

  it.each<[string, Behaviour, number, string]>([
    [
      "is broken",
      { kind: "status", status: 500, body: `{"error":{"message":"${key} leaked"}}` },
      500,
      "model_provider_error",
    ],
    [
      "refuses the key",
      { kind: "status", status: 401, body: `{"error":{"message":"bad key ${key}"}}` },
      500,
      "model_provider_error",
    ],
    ["has had enough", { kind: "status", status: 429, headers: { "retry-after": "90" } }, 500, "model_provider_error"],
    ["talks nonsense", { kind: "broken" }, 500, "model_provider_error"],
    ["says nothing", says(""), 500, "model_provider_error"],
    ["breaks off", { kind: "hang_up", after: "Deli" }, 500, "model_provider_error"],
    ["is silent", { kind: "silence", after: null }, 503, "upstream_timeout"],
    ["falls silent", { kind: "silence", after: "Deli" }, 503, "upstream_timeout"],
  ])("gets its own error when the model %s, without details", async (_what, behaviour, status, code) => {
    for (const path of ["/v1/query", "/v1/query/stream"]) {
      server.answer = () => behaviour;
      const answered = await inTime(app.clock, ask(question, {}, path));
      expect([answered.status, answered.body.code]).toEqual([status, code]);
      expect(answered.text).not.toMatch(/sk-test|leaked|127\.0\.0\.1/u);
    }
    expect(app.logged.join("\n")).not.toContain(key);
    expect(app.logged.join("\n")).not.toContain("leaked");
  });

  it.each(["/v1/query", "/v1/query/stream"])("times out when it sends a token every four seconds: %s", async (path) => {
    const next = (): Promise<void> =>
      new Promise((resolve) => {
        app.clock.timer(4_000, resolve);
      });
    server.answer = () => ({ kind: "drip", piece: " and", next });
    const answered = await inTime(app.clock, ask(question, {}, path));
    expect([answered.status, answered.body.code]).toEqual([504, "query_timeout"]);
  });

  it("ends a stream with an error if it breaks off after text was sent", async () => {
    server.answer = (request) => ({ kind: "hang_up", after: `${cite(request, delivery)} And then` });
    const events = eventsOf((await ask(question, {}, "/v1/query/stream")).text);
    expect(events.map(({ event }) => event)).toEqual(["token", "error"]);
    expect(events.at(-1)?.data).toMatchObject({ code: "model_provider_error" });
  });

  it("is paused after failures, which readiness reports", async () => {
    server.answer = () => ({ kind: "status", status: 401 });
    for (let count = 0; count < 3; count += 1) await ask(question);
    const before = server.requests.length;
    const resting = await ask(question);
    expect([resting.status, resting.body.code, resting.headers.get("retry-after")]).toEqual([
      503,
      "provider_down",
      "30",
    ]);
    expect(server.requests.length).toBe(before);
    const state = await app.get("/health/ready", { key: null });
    expect(state.status).toBe(200);
    expect(state.text).toContain('"name":"model","state":"degraded"');
    expect(state.text).toContain("MODEL_API_KEY");
    const metrics = (await app.get("/metrics", { key: null })).text;
    expect(metrics).toContain('parley_model_failures_total{kind="key",instead="told"} ');
    expect(metrics).toContain('parley_model_sentences_total{outcome="dropped"} ');
    app.clock.advance(30_000);
    server.answer = (request) => says(cite(request, delivery));
    expect((await ask(question)).status).toBe(200);
    expect((await app.get("/health/ready", { key: null })).text).toContain('"name":"model","state":"ready"');
  });

  it("receives placeholders for a customer's addresses and numbers, which the answer restores", async () => {
    server.answer = (request) => {
      const [name = ""] = /EMAIL_\w+/u.exec(request.user) ?? [];
      return says(`Shipping is free from 40 €, ${name}. [${request.passage("free from 40 €")}]`);
    };
    const { conversation_id } = read(
      await ask("I am anna@mail.example, +49 30 1234567, card 4111 1111 1111 1111, DE89370400440532013000"),
    );
    const answered = await ask("What does shipping cost?", { conversation_id });
    const prompt = server.requests.at(-1)?.user ?? "";
    expect(prompt).toMatch(/I am EMAIL_\w+, PHONE_\w+, card CARD_\w+, IBAN_\w+\n/u);
    for (const secret of ["anna@mail", "1234567", "4111", "DE8937"]) expect(prompt).not.toContain(secret);
    expect(read(answered).answer).toContain("anna@mail.example");
  });

  it("has its placeholders restored in a stream too, wherever its tokens break", async () => {
    server.answer = (request) => {
      const [name = ""] = /EMAIL_\w+/u.exec(request.user) ?? [];
      const text = `Shipping is free from 40 €, ${name}. [${request.passage("free from 40 €")}]`;
      return says(...(text.match(/.{1,3}/gsu) ?? []));
    };
    const { conversation_id } = read(await ask("I am anna@mail.example"));
    const events = eventsOf((await ask("What does shipping cost?", { conversation_id }, "/v1/query/stream")).text);
    const deltas = events.filter(({ event }) => event === "token").map(({ data }) => data["delta"]);
    expect(deltas.join("")).toBe(events.at(-1)?.data["answer"]);
    expect(deltas.join("")).toContain("anna@mail.example");
    expect(deltas.join("")).not.toContain("EMAIL_");
    expect(server.requests.at(-1)?.user).not.toContain("anna@mail");
  });

  it("is reported as down when it cannot be reached", async () => {
    const away = await start(newSqlite, { baseUrl: "http://127.0.0.1:1/v1" });
    try {
      await away.learn("help.md", help);
      const answered = await inTime(
        away.clock,
        away.post("/v1/query", { workspace_id: away.workspace.id, query: question }),
      );
      expect([answered.status, answered.body.code]).toEqual([503, "provider_down"]);
    } finally {
      await away.close();
    }
  });
});

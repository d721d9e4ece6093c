import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { ModelRequest, ModelServer } from "#test/support/servers/model-server.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";

const help = `# Blue Kettle help

## How long does delivery take?

Delivery within the country takes one to three working days. Abroad it takes up to eight working days.

## How do I return an item?

You can return any item within 30 days of receiving it. Gift cards cannot be returned.
`;
const question = "How long does delivery take?";
const delivery = "Delivery within the country takes one to three working days.";
/** A rephrased sentence: the comparison of words leaves it in doubt. */
const rephrased = "Parcels sent to an address in another nation arrive after at most eight working days.";
const german = "Eine Lieferung im Inland dauert ein bis drei Werktage.";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.check = () => says("NONE");
});

const start = (check: "doubtful" | "every" | "words"): Promise<TestApp> =>
  startApp(newSqlite, {
    publicUrl: "http://127.0.0.1:8080",
    model: { provider: "openai-compatible", baseUrl: server.url, name: "m", apiKey: "sk-test-83c1f0e5d2", check },
  });

const cite = (request: ModelRequest, ...texts: readonly string[]): string =>
  texts.map((text) => `${text} [${request.passage("Abroad it takes")}]`).join(" ");

function asking(app: () => TestApp) {
  return async (query: string, path = "/v1/query") => {
    const before = server.checks.length;
    const answered = await app().post(path, { workspace_id: app().workspace.id, query });
    expect(answered.status).toBe(200);
    return { ...answered, checks: server.checks.slice(before) };
  };
}

describe("statements that words leave in doubt", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await start("doubtful");
    await app.learn("help.md", help);
  });
  afterAll(() => app.close());
  const ask = asking(() => app);

  it("are shown when the model finds them supported, and cost their tokens", async () => {
    server.answer = (request) => says(cite(request, delivery, rephrased, "Returns are free of charge for ever."));
    server.check = () => ({ kind: "text", pieces: ["1"], tokens: { input: 100, output: 3 } });
    const { body, checks } = await ask(question);
    expect(body).toMatchObject({ answer: `${delivery} [1] ${rephrased} [1]`, tokens_used: 153, confidence: "medium" });
    expect(checks).toHaveLength(1);
    expect(checks[0]?.user).toContain(`1. (cites 1) ${rephrased}`);
    expect(checks[0]?.user).toContain("Abroad it takes up to eight working days.");
    // Words support it, and it is not asked about.
    expect(checks[0]?.user).not.toContain(`) ${delivery}`);
  });

  it("are left out when the model finds that they are not", async () => {
    server.answer = (request) => says(cite(request, delivery, rephrased));
    const { body } = await ask(question);
    expect(body.answer).toBe(`${delivery} [1]`);
  });

  it("are left out without a call when a number, link or name is not in the passage", async () => {
    server.answer = (request) =>
      says(
        cite(
          request,
          delivery,
          "Parcels to another nation arrive after at most 9 days.",
          "Parcels are tracked at https://evil.example/track by the sender.",
          "Ask Carla Moreno about your parcel, she knows where it is.",
        ),
      );
    server.check = () => says("1, 2, 3");
    const { body, checks } = await ask(question);
    expect(body.answer).toBe(`${delivery} [1]`);
    expect(checks).toHaveLength(0);
  });

  it("cost no call when there are none", async () => {
    server.answer = (request) => says(cite(request, delivery));
    expect((await ask(question)).checks).toHaveLength(0);
  });

  it.each([
    ["cannot be read", () => says("All of them are fine, I think 1 of them especially.")],
    ["names a statement that does not exist", () => says("1, 7")],
    ["is an error", () => ({ kind: "status", status: 400 }) as const],
    ["is refused", () => ({ kind: "text", pieces: ["1"], finish: "refused" }) as const],
  ])("are left out when the reply %s", async (_what, check) => {
    server.answer = (request) => says(cite(request, delivery, rephrased));
    server.check = check;
    const { body } = await ask(question);
    expect(body.answer).toBe(`${delivery} [1]`);
  });

  it("hold back what follows them in a stream, and nothing before", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.answer = (request) => says(cite(request, delivery, rephrased, "Gift cards are shipped abroad, too."));
    server.check = () => ({ kind: "text", pieces: ["1"], hold: held });
    const response = await fetch(`${app.url}/v1/query/stream`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${app.workspace.key}` },
      body: JSON.stringify({ workspace_id: app.workspace.id, query: question }),
    });
    let text = "";
    let isHeld = true;
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (isHeld && text.includes("three working days")) {
        expect(text).not.toContain("another nation");
        isHeld = false;
        release();
      }
    }
    expect(isHeld).toBe(false);
    expect(text).toContain("another nation");
    expect(text).not.toContain("too.");
  });

  it("are answers in the customer's language, which the model is asked for", async () => {
    server.answer = (request) => says(cite(request, german));
    server.search = () => says(question);
    server.check = () => says("1");
    const { body, checks } = await ask("Wie lange dauert die Lieferung von euch in Deutschland normalerweise?");
    server.search = () => says("NONE");
    expect(server.requests.at(-1)?.system).toContain("in German.");
    expect(body).toMatchObject({ answer: `${german} [1]`, sources: [{ title: expect.stringContaining("delivery") }] });
    expect(checks[0]?.user).toContain(german);
  });
});

describe("each statement", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await start("every");
    await app.learn("help.md", help);
  });
  afterAll(() => app.close());
  const ask = asking(() => app);

  it("is checked by the model if MODEL_CHECK says so, and is left out where it objects", async () => {
    const swapped = "Gift cards cannot be returned.";
    server.answer = (request) => says(cite(request, delivery, "Abroad it takes up to eight working days."), swapped);
    server.check = () => says("2");
    const { body, checks } = await ask(question);
    expect(checks[0]?.user).toContain(`1. (cites 1) ${delivery}`);
    expect(body.answer).toBe("Abroad it takes up to eight working days. [1]");
  });

  it("is checked by words when the model's check fails", async () => {
    server.answer = (request) => says(cite(request, delivery, rephrased));
    server.check = () => ({ kind: "status", status: 400 });
    expect((await ask(question)).body.answer).toBe(`${delivery} [1]`);
  });
});

describe("a model without a second call", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await start("words");
    await app.learn("help.md", help);
  });
  afterAll(() => app.close());
  const ask = asking(() => app);

  it("is checked by words, and answers in the language of the documents", async () => {
    server.answer = (request) => says(cite(request, rephrased));
    server.search = () => says(question);
    const { body, checks } = await ask("Wie lange dauert die Lieferung von euch in Deutschland normalerweise?");
    server.search = () => says("NONE");
    expect(checks).toHaveLength(0);
    expect(server.requests.at(-1)?.system).toContain("in the language of the passages.");
    expect(body.answer).not.toContain(rephrased);
  });
});

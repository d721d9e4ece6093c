import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Answered, TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { ModelServer } from "#test/support/servers/model-server.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";
import type { RerankerServer } from "#test/support/servers/reranker-server.ts";
import { startRerankerServer } from "#test/support/servers/reranker-server.ts";

const colors = ["Red", "Green", "White", "Black", "Grey", "Brown", "Pink", "Violet"];
/** More than are read without a reranker, so that the choice among forty shows. */
const numbers = Array.from({ length: 24 }, (_, at) => `K${at + 10}`);
const descaler = "Take citric acid for the brown one: vinegar spoils its lid.";
const care = `# The kettle's lid\n\n${descaler} ${"A kettle lasts for many years if its owner is kind. ".repeat(24)}\n`;

describe("passages that a reranker orders", () => {
  let model: ModelServer;
  let reranker: RerankerServer;
  let app: TestApp;
  beforeAll(async () => {
    [model, reranker] = await Promise.all([startModelServer(), startRerankerServer()]);
    app = await startApp(newSqlite, {
      model: { provider: "openai-compatible", baseUrl: model.url, name: "test-model", apiKey: "sk-test-1" },
      reranker: { baseUrl: reranker.url, name: "rerank-test", apiKey: reranker.apiKey },
    });
    for (const color of [...colors, ...numbers])
      await app.learn(
        `${color}.md`,
        `# The ${color} kettle\n\nThe kettle holds one litre. Clean the ${color} kettle with vinegar.\n`,
      );
    await app.learn("care.md", care);
    await app.learn("shop.md", "# The shop\n\nThe shop opens at nine and closes at six.\n");
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([model.close(), reranker.close()]);
  });
  beforeEach(() => {
    reranker.behave("well");
    reranker.score = (document) => (document.includes("citric acid") ? 0.9 : document.includes("Violet") ? 0.5 : 0.1);
    model.answer = (request) => says(request.user.includes(descaler) ? `${descaler} [1]` : "NO_ANSWER");
    model.search = () => says("What removes limescale?");
  });
  // A server that was paused by one test must not be paused in the next.
  afterEach(() => app.clock.advance(600_000));

  const ask = (query: string, more: object = {}): Promise<Answered> =>
    app.post("/v1/query", { workspace_id: app.workspace.id, query, ...more });
  const asked = () => reranker.requests.at(-1);
  const titles = (user = ""): readonly string[] =>
    [...user.matchAll(/The (\w+) kettle$|The (kettle's lid|shop)$/gm)].map(([, color, other]) => color ?? other ?? "");

  it("are read best first, as many as the request allows", async () => {
    model.search = () => says("NONE");
    const { body } = await ask("How do I clean the Pink kettle with vinegar?", { top_k: 2 });
    // Words prove nothing about passages that they did not choose.
    expect(body).toMatchObject({
      answer: `${descaler} [1]`,
      sources: [{ title: "The kettle's lid" }],
      confidence: "medium",
    });
    expect(titles(model.requests.at(-1)?.user)).toEqual(["kettle's lid", "Violet"]);
    expect(asked()).toMatchObject({
      model: "rerank-test",
      query: "How do I clean the Pink kettle with vinegar?",
      top_n: 2,
    });
    expect(asked()?.documents).toHaveLength(colors.length + numbers.length + 3);
    expect(asked()?.documents).toContainEqual(expect.stringMatching(/^The kettle's lid\nTake citric acid/));
  });

  it("are chosen among all that several searches find, for each search", async () => {
    model.search = () => says("Which kettle has a lid?\n", "When does the shop open?");
    reranker.score = (document, query) =>
      query.includes("shop") ? Number(document.includes("opens at nine")) : Number(document.includes("citric acid"));
    await ask("what about that one, and your hours", { top_k: 2 });
    const last = reranker.requests.slice(-2);
    expect(last.map(({ query }) => query).toSorted()).toEqual(["When does the shop open?", "Which kettle has a lid?"]);
    for (const { documents } of last) expect(documents.length).toBeGreaterThan(25);
    expect(titles(model.requests.at(-1)?.user).toSorted()).toEqual(["kettle's lid", "shop"]);
  });

  it("are compared with each question of a message, and with the end of a long one", async () => {
    model.search = () => says("NONE");
    const before = reranker.requests.length;
    await ask("How do I clean the Pink kettle with vinegar? When does the shop open?");
    expect(
      reranker.requests
        .slice(before)
        .map(({ query }) => query)
        .toSorted(),
    ).toEqual(["How do I clean the Pink kettle with vinegar?", "When does the shop open?"]);
    await ask(`${"I have had it for years. ".repeat(30)}How do I clean the Pink kettle with vinegar?`);
    expect(asked()?.query).toMatch(/How do I clean the Pink kettle with vinegar\?$/u);
    expect(asked()?.query).toHaveLength(500);
  });

  it("are compared with what the model searched for, without personal data", async () => {
    await ask("what takes that white stuff off, write to anna@mail.example");
    expect(asked()?.query).toBe("What removes limescale?");
    model.search = () => says("NONE");
    await ask("How do I clean the Pink kettle of anna@mail.example with vinegar?");
    expect(asked()?.query).toMatch(/^How do I clean the Pink kettle of EMAIL_\w+ with vinegar\?$/u);
  });

  it.each(["short_500", "short"] as const)("are sent shorter where it refuses them (%s)", async (how) => {
    reranker.behave(how);
    const query = "How do I clean the kettle's lid with citric acid?";
    const longest = async (): Promise<readonly number[]> => {
      const before = reranker.requests.length;
      expect((await ask(query)).body.answer).toBe(`${descaler} [1]`);
      return reranker.requests.slice(before).map(({ documents }) => Math.max(...documents.map((each) => each.length)));
    };
    expect(await longest()).toEqual([expect.toSatisfy((length: number) => length > 500 && length <= 1_500), 500]);
    // An overload has the status 500, too, so only a refusal is remembered.
    expect(await longest()).toHaveLength(how === "short" ? 1 : 2);
  });

  it("stay in their order where it takes too long", async () => {
    reranker.behave("hang");
    const held = "The kettle holds one litre.";
    model.answer = (request) => says(`${held} [${request.passage(held)}]`);
    expect((await ask("How much does the Pink kettle hold?")).body.answer).toBe(`${held} [1]`);
  });

  it.each(["away", "failing", "broken", "foreign"] as const)("stay in their order where it is %s", async (how) => {
    reranker.behave(how);
    model.answer = (request) => says(`The kettle holds one litre. [${request.passage("The kettle holds one litre.")}]`);
    const { body } = await ask("How much does the Pink kettle hold?");
    expect(body).toMatchObject({ answer: "The kettle holds one litre. [1]", sources: [{ title: "The Pink kettle" }] });
    const { body: state } = await app.get("/health/ready");
    expect(JSON.stringify(state)).toMatch(/"reranker".*"degraded".*the reranker/u);
    reranker.behave("well");
    await ask("How much does the Pink kettle hold?");
    expect(JSON.stringify((await app.get("/health/ready")).body)).toMatch(/"reranker"[^}]*"ready"/u);
  });

  it("stay in their order without a call while the server is not called", async () => {
    reranker.behave("failing");
    for (const word of ["Red", "Green", "White"]) await ask(`How much does the ${word} kettle hold?`);
    const before = reranker.requests.length;
    await ask("How much does the Black kettle hold?");
    expect(reranker.requests.length).toBe(before);
  });

  it("are not asked for where nothing is found", async () => {
    model.search = () => says("NONE");
    const before = reranker.requests.length;
    expect((await ask("who won the match in Lima")).body.sources).toEqual([]);
    expect(reranker.requests.length).toBe(before);
  });
});

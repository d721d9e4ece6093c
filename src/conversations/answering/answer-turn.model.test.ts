import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import { inTime } from "#test/support/in-time.ts";
import type { Behaviour, ModelServer } from "#test/support/servers/model-server.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";

const sentence = "Delivery within the country takes one to three working days.";
const question = "How long does delivery take?";

eachDatabase("a customer on a channel, with a language model", (open) => {
  let server: ModelServer;
  let bench: EngineBench | undefined;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  afterEach(() => bench?.close());

  async function begin(): Promise<EngineBench> {
    const made = await openBench(open, {
      model: { provider: "openai", baseUrl: server.url, name: "test-model", apiKey: "sk-test" },
    });
    bench = made;
    const { documents } = made.app.services;
    const bytes = Buffer.from(`# Help\n\n## How long does delivery take?\n\n${sentence}`);
    const { id } = await documents.add({ workspaceId: made.workspaceId, fileName: "help.md", bytes });
    await documents.process(id);
    return made;
  }

  it("gets the model's answer", async () => {
    const made = await begin();
    server.answer = () => says("In the country, delivery takes 1 to 3 working days. [1]");
    const id = await made.begin("well", question);
    await made.until("it is answered", async () => (await made.talk(id)).length === 2);
    expect(await made.talk(id)).toEqual([
      `user: ${question}`,
      "assistant: In the country, delivery takes 1 to 3 working days. [1]",
    ]);
  });

  it.each<[string, Behaviour]>([
    ["cannot be used", { kind: "status", status: 401 }],
    ["is down", { kind: "status", status: 503 }],
    ["is silent", { kind: "silence", after: null }],
    ["falls silent in the middle", { kind: "silence", after: `${sentence} [1] And` }],
    ["breaks off in the middle", { kind: "hang_up", after: `${sentence} [1] And` }],
    ["ends in the middle, in good order", { kind: "end_early", after: `${sentence} [1] And` }],
    ["has had enough", { kind: "status", status: 429, headers: { "retry-after": "90" } }],
    ["talks nonsense", { kind: "broken" }],
    ["says nothing", says("")],
  ])("gets the documents' own sentences, and no silence, when the model %s", async (_what, behaviour) => {
    const made = await begin();
    server.answer = () => behaviour;
    const id = await made.begin("ill", question);
    await inTime(
      made.clock,
      made.until("it is answered", async () => (await made.talk(id)).length === 2),
    );
    expect(await made.talk(id)).toEqual([`user: ${question}`, `assistant: ${sentence}`]);
    expect(made.logged.filter((line) => line.includes("model: answering failed"))).toHaveLength(1);
  });

  it.each<[string, Behaviour, Behaviour]>([
    ["cannot search in other words", { kind: "silence", after: null }, says(`${sentence} [1]`)],
    ["has searched, and cannot answer", says(question), { kind: "silence", after: null }],
  ])("gets a fallback for a question in other words when the model %s", async (_what, search, answer) => {
    const made = await begin();
    server.search = () => search;
    server.answer = () => answer;
    const id = await made.begin("ill", "my parcel still has not turned up");
    await inTime(
      made.clock,
      made.until("it is answered", async () => (await made.talk(id)).length === 2),
    );
    expect((await made.talk(id))[1]).toContain(`assistant: ${defaultSettings.unknownMessage}`);
  });

  it("gets a fallback with the offer of a person when the model refuses", async () => {
    const made = await begin();
    server.answer = () => ({ kind: "text", pieces: ["I cannot help"], finish: "refused" });
    const id = await made.begin("refused", question);
    await made.until("it is answered", async () => (await made.talk(id)).length === 2);
    expect(await made.talk(id)).toEqual([
      `user: ${question}`,
      expect.stringContaining(`assistant: ${defaultSettings.unknownMessage}`),
    ]);
  });

  it("gets the answer after the model's requested delay", async () => {
    const made = await begin();
    let asked = 0;
    server.answer = () =>
      (asked += 1) === 1 ? { kind: "status", status: 429, headers: { "retry-after": "3" } } : says(`${sentence} [1]`);
    const id = await made.begin("later", question);
    await inTime(
      made.clock,
      made.until("it is answered", async () => (await made.talk(id)).length === 2),
    );
    expect(await made.talk(id)).toEqual([`user: ${question}`, `assistant: ${sentence} [1]`]);
    expect(asked).toBe(2);
  });
});

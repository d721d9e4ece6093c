import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExtractiveAnswerer } from "./answerer.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answer, Answerer, Question } from "./contract.ts";
import type { Store } from "#database/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import type { WorkspaceEncoder } from "#knowledge/vectors/encoder-state.ts";
import { evidence } from "#knowledge/vectors/encoder-state.ts";
import { createHybridIndex } from "#knowledge/vectors/hybrid-index.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import type { TestKnowledge } from "#test/support/knowledge/knowledge.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";

/** Reads similarities as those of the built-in encoder. */
const encoder: WorkspaceEncoder = {
  model: "given",
  dimensions: 1,
  question: "",
  passage: "",
  calibration: evidence,
  onScale: (similarity) => similarity,
};

const faq = `# Blue Kettle help

## How long does delivery take?

Orders placed before 14:00 leave our warehouse the same day. Delivery within the country takes one to three working days; abroad it takes up to eight working days.

## What does shipping cost?

Shipping is free from 40 €. Below that it costs 4.90 €. Express delivery is 9.90 €.

## How do I return an item?

You can return any item within 30 days of receiving it, unused and in its box. The box can be opened. What was made to order for you, such as an engraved kettle, cannot be returned unless it is faulty, and neither can gift cards be.

1. Open **My orders** and choose the order.
2. Click **Return items** and select what goes back.
3. Print the label with \`Ctrl+P\` and stick it on the parcel.
4. Hand it in at any post office.

The money is back on your account within five working days.

## Warranty

Every kettle has a warranty of three years. It covers faults in material and workmanship, but not limescale.

## Gift cards

Gift cards are worth 25, 50 or 100 €. They are valid for three years and cannot be paid out in cash.

## Opening hours

Our phone line is open Monday to Friday from 9:00 to 17:00.

## Parts

| Part | Number | Price |
|---|---|---|
| Lid | BK-100 | 7 € |
| Filter | BK-101 | 4 € |
| Base | BK-102 | 12 € |
`;

describe("answerer", () => {
  let store: Store;
  let closeStore: () => Promise<void>;
  let index: KnowledgeIndex;
  let knowledge: TestKnowledge;
  let workspaceId: string;
  let answerer: Answerer;

  beforeAll(async () => {
    ({ store, close: closeStore } = await openTestStore(newSqlite));
    index = openEmbeddedIndex({ store, path: ":memory:", log: silentLog });
    knowledge = testKnowledge(store);
    workspaceId = await newWorkspace(store);
    answerer = createExtractiveAnswerer({ index });
    await knowledge.add(workspaceId, "faq.md", faq);
  });
  afterAll(async () => {
    await index.close();
    await closeStore();
  });

  const ask = (text: string, more: Partial<Question> = {}): Promise<Answer> =>
    answerer.answer(
      {
        workspaceId,
        text,
        history: [],
        strictness: "strict",
        topK: 5,
        audience: [],
        settings: defaultSettings,
        ...more,
      },
      new AbortController().signal,
    );

  it("names the documents' language in the customer's language, with the nearest passages", async () => {
    const { text, answered, sources } = await ask("Wie kann ich den Blue Kettle zurückgeben, wenn er nicht gefällt?");
    expect(answered).toBe(false);
    expect(text).toMatch(/^Das weiß ich nicht: .*\n\nUnsere Dokumentation ist in einer anderen Sprache: Englisch\. /su);
    expect(sources[0]?.title).toMatch(/^Blue Kettle help/);
    expect((await ask("How do I bake bread in a kettle?")).text).toBe(defaultSettings.unknownMessage);
  });

  it("names the question of a message that it cannot answer", async () => {
    const { text, confidence, sources } = await ask("How long is the warranty, and how do I bake bread?");
    expect(text).toBe(
      "**How long is the warranty?**\n\nEvery kettle has a warranty of three years. It covers faults in material and workmanship, but not limescale.\n\n" +
        `**How do I bake bread?**\n\n${defaultSettings.unknownMessage}`,
    );
    expect(confidence).toBe("medium");
    expect(sources.map(({ title }) => title)).toEqual(["Blue Kettle help › Warranty"]);
  });

  it.each([
    ["clauses that seem to ask", `a${"; who ".repeat(440)}${"?-".repeat(2_600)}x`],
    ["dots", ".".repeat(8_000)],
    ["spaces", `a${" ".repeat(7_900)}b`],
    ["commas", "a, ".repeat(2_600)],
  ])("answers a message of %s in a moment", async (_what, text) => {
    const before = process.threadCpuUsage();
    await ask(text);
    const { user, system } = process.threadCpuUsage(before);
    // CPU time in microseconds: cubic work takes half a minute, quadratic work some seconds.
    expect(user + system).toBeLessThan(2_500_000);
  });

  it("runs each search once per message", async () => {
    const embedded: string[] = [];
    const searched: string[] = [];
    const hybrid = createHybridIndex({
      words: {
        ...index,
        search(request) {
          const { terms, limit, misspelt, audience, text } = request;
          searched.push(JSON.stringify([terms, limit, misspelt, audience, text?.()]));
          return index.search(request);
        },
      },
      vectors: {
        encoderOf: () => Promise.resolve(encoder),
        nearest: () => Promise.resolve([]),
        embedded: () => 0,
        prepare: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
      embedder: {
        model: "counting",
        trouble: () => null,
        embed(texts) {
          embedded.push(...texts);
          return Promise.resolve(texts.map(() => new Float32Array([1])));
        },
      },
      read: store.read,
      log: silentLog,
    });
    const story =
      "I am anna@example.com and bought a kettle in May. It leaks. How do I return it? What does it cost? And how long does it take?";
    const question = { workspaceId, strictness: "strict", topK: 5, audience: [], settings: defaultSettings } as const;
    const before = [{ role: "user", content: "How do I order the lid?" }] as const;
    const { signal } = new AbortController();
    for (const text of [story, "And the filter?"])
      await createExtractiveAnswerer({ index: hybrid }).answer({ ...question, text, history: before }, signal);
    expect(embedded.length).toBeGreaterThan(3);
    expect(embedded).toEqual([...new Set(embedded)]);
    expect(searched).toEqual([...new Set(searched)]);
    // The cache ends with the message.
    await createExtractiveAnswerer({ index: hybrid }).answer({ ...question, text: story, history: before }, signal);
    expect(embedded.length).toBeGreaterThan(new Set(embedded).size);
  });

  describe("where words cover little of the question", () => {
    const covered = "can i get hold of somebody by phone at weekends or late in the evening";
    const asked: string[] = [];
    /** Answers with these similarities; passages that are not named have none above 0.2. */
    async function answerWith(
      similarities: Readonly<Record<string, number>>,
      { text, history }: Pick<Question, "text" | "history"> = {
        text: covered,
        history: [],
      },
      /** Share of the passages that have a vector. */
      share = 1,
    ) {
      const chunks = await store.read.selectFrom("chunks").select(["id", "title"]).execute();
      const near = chunks
        .map(({ id, title }) => ({ chunkId: id, similarity: similarities[title.split(" › ").at(-1) ?? ""] ?? 0.2 }))
        .toSorted((left, right) => right.similarity - left.similarity);
      const hybrid = createHybridIndex({
        words: index,
        vectors: {
          encoderOf: () => Promise.resolve(encoder),
          nearest: () => Promise.resolve(near),
          embedded: () => Math.floor(chunks.length * share),
          prepare: () => Promise.resolve(),
          close: () => Promise.resolve(),
        },
        embedder: {
          model: "given",
          isLocal: true,
          trouble: () => null,
          embed(texts) {
            asked.push(...texts);
            return Promise.resolve(texts.map(() => new Float32Array([1])));
          },
        },
        read: store.read,
        log: silentLog,
      });
      const question = { workspaceId, strictness: "strict", topK: 5, audience: [], settings: defaultSettings } as const;
      const { signal } = new AbortController();
      return createExtractiveAnswerer({ index: hybrid }).answer({ ...question, text, history }, signal);
    }

    it("answers where words and meaning lead to one heading", async () => {
      expect((await ask(covered)).answered).toBe(false);
      expect(await answerWith({ "Opening hours": 0.7 })).toMatchObject({
        answered: true,
        text: "Our phone line is open Monday to Friday from 9:00 to 17:00.",
      });
    });

    it("reads the cells of a row by words, since it is no sentence that could mean something", async () => {
      const code = { text: "what do i do about BK-102", history: [] };
      expect((await answerWith({ "Gift cards": 0.3 }, code)).text).toContain("Base");
    });

    it("goes by the words alone while passages wait for their vectors", async () => {
      expect((await answerWith({ "Opening hours": 0.7 }, undefined, 0.8)).answered).toBe(false);
      const clear = { text: "How long is the warranty?", history: [] };
      expect((await answerWith({ "Opening hours": 0.7 }, clear, 0.8)).text).toContain("three years");
    });

    it("refuses where another heading means as much", async () => {
      expect((await answerWith({ "Opening hours": 0.7, Warranty: 0.8 })).answered).toBe(false);
    });

    it("asks no encoder of this process where words are enough", async () => {
      expect(await answerWith({}, { text: "What are your opening hours?", history: [] })).toMatchObject({
        answered: true,
      });
      expect(asked).not.toContain("What are your opening hours?");
      await answerWith({}, { text: covered, history: [] });
      expect(asked).toContain(covered);
    });

    it("compares a follow-up together with the question before it", async () => {
      const history = [{ role: "user", content: "How long does delivery take?" }] as const;
      await answerWith({}, { text: "And abroad?", history });
      expect(asked).toContain("How long does delivery take? And abroad?");
    });
  });

  it("reads the second question as a follow-up of the first", async () => {
    const { text } = await ask("How do I return an item? And how long do I have for that?");
    expect(text).toMatch(/^You can return any item within 30 days.*4\. Hand it in at any post office\./su);
    expect(text).not.toContain("eight working days");
  });

  it.each([
    ["How long does shipping take?", "one to three working days"],
    ["is shipping free?", "free from 40 €"],
    ["How long is the warranty?", "three years"],
    ["how long are gift cards valid?", "valid for three years"],
    ["what are your opening hours", "Monday to Friday"],
    ["warranty?", "three years"],
  ])("%s", async (question, expected) => {
    const answer = await ask(question);
    expect(answer).toMatchObject({ answered: true, skillsFired: ["knowledge_search"], tokensUsed: 0 });
    expect(answer.text).toContain(expected);
  });

  it.each([
    "What is the capital of France?",
    "Who is the CEO?",
    "How do I install a dishwasher?",
    "Do you sell coffee machines?",
  ])("does not know the answer: %s", async (question) => {
    expect(await ask(question)).toMatchObject({
      answered: false,
      confidence: "low",
      text: defaultSettings.unknownMessage,
    });
  });

  it("returns all numbered steps when steps are asked for", async () => {
    const { text } = await ask("how do I return my kettle?");
    expect(text).toContain("1. Open My orders and choose the order.\n2. Click Return items");
    expect(text).toContain("3. Print the label with `Ctrl+P`");
    expect(text).toContain("4. Hand it in at any post office.");
  });

  it("returns the table row that was asked for", async () => {
    const { text } = await ask("What is the price of the filter?");
    expect(text).toContain("Filter");
    expect(text).toContain("4 €");
  });

  it("uses only text from its sources, and names only sources that it uses", async () => {
    for (const question of ["how do I return my kettle?", "How long is the warranty?", "what does shipping cost?"]) {
      const { text, sources } = await ask(question);
      expect(sources.length).toBeGreaterThan(0);
      const said = text.split("\n").filter((line) => line.trim() !== "");
      for (const line of said)
        expect(
          sources.some((source) => source.chunk.includes(line)),
          line,
        ).toBe(true);
      for (const source of sources) expect(said.some((line) => source.chunk.includes(line))).toBe(true);
      expect(sources[0]).toEqual({
        title: expect.stringContaining("Blue Kettle help › ") as unknown,
        url: "",
        chunk: expect.any(String) as unknown,
        score: expect.any(Number) as unknown,
      });
    }
  });

  it("answers a follow-up question", async () => {
    const history = [
      { role: "user", content: "Do the kettles have a warranty?" },
      { role: "assistant", content: "Every kettle has a warranty." },
    ] as const;
    const answer = await ask("and what does it cover?", { history });
    expect(answer.text).toContain("It covers faults");
    expect((await ask("and is there snow in Alaska?", { history })).answered).toBe(false);
  });

  it.each([
    "I am anna.schmidt@mail-server.example, how long is the warranty?",
    "My order number is AX-99321-2031 and my phone is +49 170 1234567: how long is the warranty?",
    "I am at https://shop.example/products/kettle-blue?ref=nl22 now: how long is the warranty?",
  ])("ignores the customer's own addresses and numbers: %s", async (text) => {
    const answer = await ask(text);
    expect(answer).toMatchObject({
      answered: true,
      text: expect.stringContaining("warranty of three years") as unknown,
    });
  });

  it("does not answer about another thing when the question is about the number itself", async () => {
    expect((await ask("What does error 50012 mean?")).answered).toBe(false);
    expect((await ask("What does the part BK-101 cost?")).text).toContain("4 €");
  });

  it("ignores the history when a question is complete", async () => {
    const history = [
      { role: "user", content: "What do gift cards cost, and are they paid out in cash?" },
      { role: "assistant", content: "They cannot be paid out." },
    ] as const;
    const fresh = await ask("How long does delivery take?", { history });
    expect(fresh.text).toBe((await ask("How long does delivery take?")).text);
  });

  it.each([
    ["hello", /Hello/],
    ["Hi there!", /Hello/],
    ["thank you so much", /welcome/],
    ["bye", /Goodbye/],
    ["Are you a bot?", /automated assistant/],
    ["👍", /Good to hear/],
    ["🎉🎉 👍🏽!", /Good to hear/],
    ["🙏❤️", /welcome/],
    ["👋", /Hello/],
  ])("answers small talk without a search: %s", async (text, expected) => {
    const answer = await ask(text);
    expect(answer).toMatchObject({ answered: true, confidence: "high", sources: [], skillsFired: [] });
    expect(answer.text).toMatch(expected);
  });

  it("answers an emoji in the language of the history, and does not treat a complaint as small talk", async () => {
    const history = [
      { role: "user", content: "Wie lange ist die Garantie auf die Küchengeräte?" },
      { role: "assistant", content: "Drei Jahre." },
    ] as const;
    expect((await ask("👍", { history })).text).toMatch(/freut/);
    for (const text of ["😡", "👎", "👍👎", "🤔?", "!!!"]) expect((await ask(text)).answered, text).toBe(false);
  });

  it("searches for a question that begins with a greeting", async () => {
    expect((await ask("Hello, how long is the warranty?")).text).toContain("three years");
  });

  it("streams the text piece by piece", async () => {
    const pieces: string[] = [];
    const { text } = await ask("How long is the warranty?", { onToken: (piece) => pieces.push(piece) });
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.join("")).toBe(text);
  });

  it("answers with lower confidence in a helpful workspace, and says that it is uncertain", async () => {
    const question = "Can the warranty be extended?";
    expect((await ask(question)).answered).toBe(false);
    const answer = await ask(question, { strictness: "helpful" });
    expect(answer).toMatchObject({ answered: true, confidence: "low" });
    expect(answer.text).toMatch(/^I'm not certain/);
  });

  it("does not use documents that the asker cannot access or did not name", async () => {
    const id = await knowledge.add(
      workspaceId,
      "discounts.md",
      "# Partner discounts\n\nPartners get a discount of 20 percent.",
      { audience: ["partner"] },
    );
    expect((await ask("Which discount do partners get?")).text).not.toContain("20 percent");
    expect((await ask("Which discount do partners get?", { audience: ["partner"] })).text).toContain("20 percent");
    expect((await ask("How long is the warranty?", { documentIds: [id], audience: ["partner"] })).answered).toBe(false);
  });

  it("limits the number of sources", async () => {
    for (const topK of [1, 10]) {
      for (const question of ["how do I return my kettle?", "What is the capital of the kettle?"]) {
        expect((await ask(question, { topK })).sources.length).toBeLessThanOrEqual(Math.min(5, topK));
      }
    }
  });

  it("escapes markup from documents", async () => {
    await knowledge.add(
      workspaceId,
      "markup.txt",
      "Zebra mode\n\nZebra mode is set by <script>alert(1)</script> and *stars* in [this](javascript:x) file.",
    );
    const { text } = await ask("What sets zebra mode?");
    expect(text).toContain(String.raw`\<script>alert(1)\</script>`);
    expect(text).toContain(String.raw`\*stars\* in \[this](javascript:x)`);
  });

  it("stops when the signal aborts", async () => {
    const question = {
      workspaceId,
      text: "warranty",
      history: [],
      strictness: "strict",
      topK: 5,
      audience: [],
      settings: defaultSettings,
    } as const;
    await expect(answerer.answer(question, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  });

  it("throws search_unavailable while documents are indexed for the first time", async () => {
    const filling = createExtractiveAnswerer({
      index: { ...index, search: async (request) => ({ ...(await index.search(request)), partial: true }) },
    });
    const question = (text: string): Question => ({
      workspaceId,
      text,
      history: [],
      strictness: "strict",
      topK: 5,
      audience: [],
      settings: defaultSettings,
    });
    const { signal } = new AbortController();
    await expect(filling.answer(question("Who is the CEO?"), signal)).rejects.toMatchObject({
      code: "search_unavailable",
      retryAfterS: 5,
    });
    expect(await filling.answer(question("How long is the warranty?"), signal)).toMatchObject({ answered: true });
  });

  it("accepts any text as a question", async () => {
    for (const text of [
      "",
      " ",
      "?",
      "😀",
      "\"'`*\\",
      "a OR b AND NEAR(",
      "x".repeat(4_000),
      "kettle ".repeat(500),
      "\ud800",
    ]) {
      expect(await ask(text), text).toMatchObject({ text: expect.stringMatching(/./) as unknown });
    }
  });
});

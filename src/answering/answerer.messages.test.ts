import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExtractiveAnswerer } from "./answerer.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answer, Answerer } from "./contract.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";

const manual = `# The lamp

## How do I connect the lamp to a phone?

Hold the button of the lamp until it blinks, and choose it in the settings of your phone.

## How do I connect the lamp to a tablet?

Plug the lamp into the tablet with its cable. Nothing needs to be set.

## What happens when the lamp is hot?

It dims by itself, and is bright again when it has cooled down.

## How do I clean the lamp?

Wipe it with a dry cloth. Never use water.

## How long does it take until the lamp is charged?

About two hours at a wall socket.

## How do I charge the lamp?

Put it on its stand. The light turns green when it is full.

## How do I start the lamp?

Press its button.

## Which colours are there?

There are red, white and blue lamps. The colour of a lamp cannot be changed. Careful customers choose white.

## What are the requirements?

A socket of 230 volts.

## Where is the serial number?

It is printed under the stand.

## Can I use the lamp outdoors?

No. Rain and heat damage it. Every lamp is tested indoors before it is sold, and the test of a lamp takes one day. The
requirements of the test are in the law.
`;

/** Text around a question that needs no answer. */
const story = `Hello dear team,

I hope that you are well. Last week my sister Martina moved to Porto with her two cats, and we had a long dinner with
the neighbours, who brought a cake.`;

describe("real customer messages", () => {
  let close: () => Promise<void>;
  let index: KnowledgeIndex;
  let answerer: Answerer;
  let workspaceId: string;
  beforeAll(async () => {
    const opened = await openTestStore(newSqlite);
    ({ close } = opened);
    index = openEmbeddedIndex({ store: opened.store, path: ":memory:", log: silentLog });
    workspaceId = await newWorkspace(opened.store);
    await testKnowledge(opened.store).add(workspaceId, "lamp.md", manual);
    answerer = createExtractiveAnswerer({ index });
  });
  afterAll(async () => {
    await index.close();
    await close();
  });

  const ask = (text: string, ...before: readonly string[]): Promise<Answer> =>
    answerer.answer(
      {
        workspaceId,
        text,
        history: before.map((content) => ({ role: "user" as const, content })),
        strictness: "strict",
        topK: 5,
        audience: [],
        settings: defaultSettings,
      },
      new AbortController().signal,
    );

  it.each([
    ["a letter around a question", `${story}\n\nHow do I clean the lamp?\n\nKind regards\nAnna`, "dry cloth"],
    ["a letter that says what somebody asks", `${story} She asked me how I clean the lamp.\n\nBye, Anna`, "dry cloth"],
    ["a statement before a question", "my cat sleeps on the sofa, and how do I clean the lamp?", "dry cloth"],
    ["a question that is a heading of common words", "how do I start the lamp", "Press its button"],
    ["a word that a heading names", "requirements", "230 volts"],
    ["a word of two letters swapped", "How do I hcarge the lamp?", "on its stand"],
  ])("answers %s", async (_, text, expected) => {
    const answer = await ask(text);
    expect(answer.answered, answer.text).toBe(true);
    expect(answer.text).toContain(expected);
  });

  it.each([
    ["puts another thing in the place of the one before", "and to a tablet?", "with its cable"],
    ["asks it in other words", "what about a tablet?", "with its cable"],
  ])("answers a follow-up that %s", async (_, text, expected) => {
    const answer = await ask(text, "How do I connect the lamp to a phone?");
    expect(answer.text).toContain(expected);
    expect(answer.text).not.toContain("blinks");
  });

  it("answers a follow-up that asks for the duration", async () => {
    expect((await ask("and how long does that take?", "How do I charge the lamp?")).text).toContain("two hours");
  });

  it("answers both questions when the first answer also matches the second", async () => {
    const { text } = await ask("how do I connect the lamp to a phone and what are the requirements");
    expect(text).toContain("until it blinks");
    expect(text).toContain("230 volts");
  });

  it.each([
    ["a question that the documents do not answer, in a letter", `${story}\n\nDo you know how I bake such a cake?`],
    ["a story that only ends in a question", "My washing machine is leaking, what can I do?"],
    ["a word that only another language makes of theirs", "career"],
    ["another thing that nobody has told of", "and to a piano?"],
  ])("does not know %s", async (_, text) => {
    const answer = await ask(text, "How do I connect the lamp to a phone?");
    expect(answer.answered, answer.text).toBe(false);
  });

  it("names the documents' language when the question shares no word with them", async () => {
    expect((await ask("Wie installiere ich das?")).text).toMatch(/^Das weiß ich nicht: .*Sprache: Englisch\./su);
    expect((await ask("¿Cuánto cuesta?")).text).toMatch(/^No lo sé: .*otro idioma: inglés\./su);
    expect((await ask("What is a bassoon?")).text).toBe(defaultSettings.unknownMessage);
  });
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { createExtractiveAnswerer } from "#answering/answerer.ts";
import type { Answer, Answerer, PastMessage } from "#answering/contract.ts";
import type { Store } from "#database/contract.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";

const documents = [
  `# Hire a kiln\n\nA small kiln costs €24 a day.\n\n## Conditions\n\nA security deposit of €200 has to be left on a credit card. Shelves are included at no charge.\n\n## Return\n\nBring the kiln back before 18:00. Every started hour after that costs €9.`,
  `# Workshop bookings\n\nA security deposit of €15 is due for each booked bench. Cancel a bench at least one day ahead.`,
  `# Glazes\n\nGlazes are sold in jars of half a litre. Open jars keep for two years.`,
  ...Array.from(
    { length: 40 },
    (_, i) =>
      `# Course ${i}\n\nTeacher ${i} shows the shelves of room ${i}. The course asks for no deposit, and begins on time. Bring an apron.`,
  ),
  // Long enough for a passage of its own under each heading.
  `# Firing curves

${"Each firing is recorded from the first minute to the last one. ".repeat(12)}

## On a Mac

1. Open the app.
2. Press the round button twice to see the curve.

${"The curve is drawn again after each change of the programme. ".repeat(12)}`,
  `# Opening hours\n\nThe studio opens at nine on weekdays and at ten on Saturdays.`,
];

let store: Store;
let closeStore: () => Promise<void>;
let index: KnowledgeIndex;
let answerer: Answerer;
let workspaceId: string;

beforeAll(async () => {
  ({ store, close: closeStore } = await openTestStore(newSqlite));
  index = openEmbeddedIndex({ store, path: ":memory:", log: silentLog });
  workspaceId = await newWorkspace(store);
  answerer = createExtractiveAnswerer({ index });
  const knowledge = testKnowledge(store);
  for (const [number, text] of documents.entries()) await knowledge.add(workspaceId, `${number}.md`, text);
});
afterAll(async () => {
  await index.close();
  await closeStore();
});

const ask = (text: string, history: readonly PastMessage[] = []): Promise<Answer> =>
  answerer.answer(
    { workspaceId, text, history, strictness: "strict", topK: 5, audience: [], settings: defaultSettings },
    new AbortController().signal,
  );

/** Asks a second question in the conversation of the first. */
async function askAfter(first: string, second: string): Promise<Answer> {
  const { text, sources } = await ask(first);
  return ask(second, [
    { role: "user", content: first },
    { role: "assistant", content: text, sources },
  ]);
}

const aboutKilns = "How much does it cost to hire a small kiln?";

it.each([
  ["and what deposit do you want", "€200"],
  ["shelves?", "no charge"],
  ["by what time do i bring it back", "18:00"],
])("answers %s from the document of the answer before", async (text, answer) => {
  expect((await askAfter(aboutKilns, text)).text).toContain(answer);
});

it("never calls such an answer certain", async () => {
  expect(await askAfter(aboutKilns, "shelves?")).toMatchObject({ answered: true, confidence: "medium" });
});

it("refuses what that document does not say", async () => {
  for (const text of ["and with a forklift driver?", "do you deliver it to Norway"]) {
    expect(await askAfter(aboutKilns, text)).toMatchObject({ answered: false });
  }
});

it("takes no heading of another subject for the question because of its one word", async () => {
  expect((await askAfter(aboutKilns, "and on a mac?")).text).not.toContain("round button");
});

it("does not repeat the answer", async () => {
  const [first, again] = [await ask(aboutKilns), await askAfter(aboutKilns, "hm, small")];
  expect(again.text).not.toBe(first.text);
});

it("gives the part of the answer before that is asked for now, and nothing else", async () => {
  const conditions = "What are the conditions?";
  expect((await ask(conditions)).text).toContain("Shelves are included at no charge.");
  expect((await askAfter(conditions, "shelves?")).text).toBe("Shelves are included at no charge.");
});

it("answers a question on another subject from its own document", async () => {
  expect((await askAfter(aboutKilns, "How long do open glaze jars keep?")).text).toContain("two years");
});

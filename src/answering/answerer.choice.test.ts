import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExtractiveAnswerer } from "./answerer.ts";
import { weighTerms } from "./understand/asked-terms.ts";
import { understand } from "./understand/question.ts";
import { promisesSteps, informativeUnits } from "./rank/informative.ts";
import { termsOf } from "#language/words/terms.ts";
import { titleFit } from "./rank/title-fit.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answer, Answerer } from "./contract.ts";
import type { Store } from "#database/contract.ts";
import { readUnits } from "#knowledge/documents/chunk-text.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import type { TestKnowledge } from "#test/support/knowledge/knowledge.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";

const isInformative = (text: string): boolean[] => informativeUnits(readUnits(text));

describe("informativeUnits", () => {
  it.each([
    "Learn how to descale the boiler of your machine.",
    "In this article, we will go through the descaling of the boiler.",
    "This guide explains how the boiler is descaled.",
    "For more tips on descaling, see Care of the boiler.",
    "See Care of the boiler.",
    "If you have an older machine, see Care of the old boiler.",
    "→ Care of the boiler",
  ])("%s", (sentence) => {
    expect(isInformative(sentence)).toEqual([false]);
  });

  it.each([
    "The boiler should be descaled every month.",
    "In this mode the boiler stays warm for an hour.",
    "See-through lids fit all machines.",
    "This page can be printed with Ctrl+P.",
  ])("keeps: %s", (sentence) => {
    expect(isInformative(sentence)).toEqual([true]);
  });

  it("rejects a table of contents with its introduction", () => {
    expect(isInformative("In this article:\n\n- Before you begin\n- Descale the boiler")).toEqual([
      false,
      false,
      false,
    ]);
    expect(isInformative("You need:\n\n- A litre of water\n- Citric acid")).toEqual([true, true, true]);
  });

  it("rejects a list made mostly of cross references", () => {
    expect(
      isInformative(
        "Here is how:\n\n- If it is new, see Care of the boiler.\n- If it is old, see Care of the old boiler.",
      ),
    ).toEqual([false, false, false]);
  });

  it("rejects a row of tiles", () => {
    expect(isInformative("Descale the boiler\n\nClean the grinder\n\nContact us")).toEqual([false, false, false]);
    expect(isInformative("Closed on Sundays")).toEqual([true]);
  });

  it("recognises a sentence that announces steps", () => {
    expect(promisesSteps("Follow the steps below to descale it.")).toBe(true);
    expect(promisesSteps("Do this:")).toBe(true);
    expect(isInformative("Continue reading if you want to know how it works!")).toEqual([false]);
    expect(isInformative("Read on the display which error is shown.")).toEqual([true]);
    expect(promisesSteps("Each step takes a minute.")).toBe(false);
  });
});

describe("titleFit", () => {
  const frequency = new Map(["descal", "boiler", "grinder", "machin"].map((term) => [term, 5]));
  const fit = (title: string): number =>
    titleFit(title, weighTerms(termsOf("How do I descale the boiler?"), { frequency, chunkCount: 500 }));

  it("is highest for a title that is exactly the question", () => {
    expect(fit("Descale the boiler")).toBe(1);
    expect(fit("Descale the boiler of the Vesuvio 200 travel machine")).toBeLessThan(fit("Descale the boiler"));
    expect(fit("Boiler")).toBeLessThan(fit("Descale the boiler"));
    expect(fit("Grinder")).toBe(0);
  });

  it("considers document and section", () => {
    expect(fit("Care › Descale the boiler")).toBeGreaterThan(fit("Care › Clean the grinder"));
    expect(fit("Descale the boiler › What you need")).toBe(1);
    expect(fit("Vesuvio 200 › Descale the boiler")).toBeLessThan(1);
  });
});

describe("understand", () => {
  it.each([
    ["How many cups does it make?", "amount"],
    ["How long does descaling take?", "time"],
    ["What is the difference between Mini and Maxi?", "difference"],
    ["What is a portafilter?", "definition"],
    ["What should I do if it leaks?", "steps"],
    ["What happens when it leaks?", "anything"],
    ["I want to get rid of the lime in my machine", "steps"],
    ["Lime in the machine, I want to remove it, how?", "steps"],
    ["I want to know if it is dishwasher safe", "anything"],
    ["Do I need to register the machine?", "anything"],
    ["Which parts do I need to bring?", "anything"],
    ["If I want to return it, who pays for that?", "anything"],
  ])("%s: %s", (question, kind) => {
    expect(understand(question, []).asks).toBe(kind);
  });

  it("drops words that only ask for a duration", () => {
    expect(understand("How long does it take to descale?", []).own).toEqual(termsOf("descale"));
    expect(understand("how long?", []).own).toEqual(termsOf("how long?"));
  });
});

describe("choosing between passages", () => {
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
    const documents = [
      `# Descale the boiler\n\nIn this article we will go through the descaling of the boiler. Follow these steps to descale it.\n\n## Steps to take\n\n1. Fill the tank with water and acid.\n2. Press both buttons.\n3. Rinse twice.`,
      `# Descale the boiler of the Vesuvio travel machine\n\nThe boiler of the Vesuvio is descaled at our workshop. Send the boiler in; to descale a boiler takes us a week.`,
      `# Bean jar\n\nA bean jar is a vessel that keeps beans dry. The jar must not be washed in a dishwasher.`,
      `# Jars and spares\n\nThe bean jar is delivered with a lid. Bean jar and lid can be ordered again. The bean jar fits all machines.`,
      `# Shared cupboards\n\nMembers of a shared cupboard have keys. All members of the shared cupboard may open it, and every member has a shelf. A shared cupboard has 3 shelves.`,
      `# Remove the grinder\n\nHow it is removed depends on your machine.\n\n## Mini\n\n1. Pull the grinder out.\n2. Close the flap.\n\n## Maxi\n\n1. Loosen the screw of the grinder.\n2. Lift it out.`,
      `# Register a warranty card\n\n1. [Open your account](https://example.com/account)\n2. Type the number of the card.\n3. Press Save.`,
      `# Spare gaskets\n\nSpare gaskets are sold in our shops:\n\n- In the shop at the station\n- In the shop by the river\n- [Shops abroad](https://example.com/abroad)`,
      `# What is the difference between Solo and Duo?\n\n| Model | Cups | Weight |\n|---|---|---|\n| Solo | 1 | 2 kg |\n| Duo | 2 | 3 kg |`,
      `# Colours\n\nMachines come in red, blue and black. We paint other colours on demand.`,
      `# Free beans of the starter box\n\nThe starter box comes with twelve months of free beans. Follow the steps below to start your free beans.\n\n> If you have a paid box of beans already, we recommend that you wait until its last month is over.\n\n---\n\n1. Open the box card.\n2. Scratch off the field.\n3. Send us the number below it.`,
      `# Cleaning\n\nWipe the case with a damp cloth. Never put it under water.`,
    ];
    for (const [number, text] of documents.entries()) await knowledge.add(workspaceId, `${number}.md`, text);
  });
  afterAll(async () => {
    await index.close();
    await closeStore();
  });

  const ask = (text: string): Promise<Answer> =>
    answerer.answer(
      { workspaceId, text, history: [], strictness: "strict", topK: 5, audience: [], settings: defaultSettings },
      new AbortController().signal,
    );

  it("prefers the page whose title is the question over a more specific one", async () => {
    const { sources } = await ask("How do I descale the boiler?");
    expect(sources[0]?.title).not.toContain("Vesuvio");
  });

  it("returns announced steps from under the next heading, without the announcement", async () => {
    const { text } = await ask("How do I descale the boiler?");
    expect(text).toContain("1. Fill the tank");
    expect(text).toContain("3. Rinse twice.");
    expect(text).not.toContain("In this article");
  });

  it("returns steps that are announced before a note", async () => {
    const { text } = await ask("Where do I get the free beans of the starter box?");
    expect(text).toContain("wait until its last month is over");
    expect(text).toContain("3. Send us the number below it.");
  });

  it("answers a definition question with the definition", async () => {
    expect((await ask("What is a bean jar?")).text).toContain("A bean jar is a vessel");
  });

  it('does not answer "how many" without a number of that thing', async () => {
    expect((await ask("How many members can a shared cupboard have?")).answered).toBe(false);
    expect((await ask("How many members can a shared cupboard have?")).answered).toBe(false);
    expect((await ask("What do the members of a shared cupboard have?")).answered).toBe(true);
  });

  it("does not answer when a heavy question term is missing", async () => {
    expect((await ask("Can I lease the grinder?")).answered).toBe(false);
  });

  it("keeps a step that is a link, and drops such a bullet", async () => {
    const { text } = await ask("How do I register a warranty card?");
    expect(text).toContain("1. Open your account\n2. Type the number of the card.");
    expect(text).not.toContain("→");
    expect((await ask("Where are spare gaskets sold?")).text).not.toContain("Shops abroad");
  });

  it("accepts a table as a comparison when its title announces one", async () => {
    expect((await ask("What is the difference between Solo and Duo?")).text).toContain("Cups: 1");
  });

  it("names the case of the steps when the question does not", async () => {
    const { text } = await ask("How do I remove the grinder?");
    expect(text).toMatch(/^\*\*M(?:ini|axi)\*\*\n\n1\. /m);
  });
});

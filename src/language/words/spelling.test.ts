import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExtractiveAnswerer } from "#answering/answerer.ts";
import { stopWordLacking, stopWordSwapped, correctStopWords } from "#answering/understand/typos.ts";
import { stem } from "./terms.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answer, Answerer } from "#answering/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { createVocabulary, typoDistance } from "./spelling.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";

const handbook = `# Lamp shop

## Warranty

Every lamp has a warranty of three years.

## How do I return a lamp?

Print the return label and hand the parcel to any post office.

## Gift cards

Gift cards are worth 25 or 50 euros.

## Single sign-on

Staff sign in through the identity provider of the company.

## Gateway

The gateway joins up to forty lamps.

## Model DL-200

The model DL-200 uses an E14 bulb of 40 watts.
`;

describe("how near two words are written", () => {
  it.each([
    ["warranty", "warranty", 0],
    ["waranty", "warranty", 1],
    ["warrnaty", "warranty", 1],
    ["warrantyy", "warranty", 1],
    ["warkanty", "warranty", 1],
    ["arwanty", "warranty", 2],
  ])("%s and %s: %i", (left, right, slips) => {
    expect(typoDistance(left, right, 2)).toBe(slips);
    expect(typoDistance(right, left, 2)).toBe(slips);
  });

  it("is more than was asked for, where it is", () => {
    expect(typoDistance("lamp", "warranty", 2)).toBeGreaterThan(2);
    expect(typoDistance("abcdef", "badcfe", 2)).toBeGreaterThan(2);
  });
});

describe("a vocabulary", () => {
  const vocabulary = createVocabulary();
  for (const word of ["warranty", "return", "leave", "gift", "card", "parcel", "dimmer", "dinner", "größe"])
    vocabulary.add(word, stem(word));

  it("finds the words that are nearest, by one slip, or by two in long words", () => {
    expect(vocabulary.near("waranty")).toEqual([stem("warranty")]);
    expect(vocabulary.near("wraranyt")).toEqual([stem("warranty")]);
    expect(vocabulary.near("dimner")).toEqual(expect.arrayContaining([stem("dimmer"), stem("dinner")]));
    expect(vocabulary.near("größse")).toEqual([stem("größe")]);
    expect(vocabulary.near("prcl")).toEqual([]);
  });

  it("takes two words apart that were written as one", () => {
    expect(vocabulary.near("giftcard")).toEqual([stem("gift"), stem("card")]);
  });

  it("leaves numbers, codes and short words as they are", () => {
    vocabulary.add("e14", "e14");
    for (const word of ["e15", "404", "gft", "x".repeat(40)]) expect(vocabulary.near(word), word).toEqual([]);
  });
});

describe("a misspelt stop word", () => {
  it.each([
    ["waht", "what"],
    ["thier", "their"],
    ["hwo", "how"],
    ["teh", "the"],
    ["yuo", "you"],
    ["wat", "what"],
    ["pleeease", "please"],
    ["lease", undefined],
    ["these", undefined],
    ["hat", undefined],
    ["on", undefined],
  ])("with letters swapped or held down: %s is %s", (word, meant) => {
    expect(stopWordSwapped(word)).toBe(meant);
  });

  it.each([
    ["wich", "which"],
    ["shoud", "should"],
    ["whre", "where"],
    ["hat", undefined],
    ["hen", undefined],
    ["tan", undefined],
    ["404", undefined],
  ])("with a letter missing: %s is %s", (word, meant) => {
    expect(stopWordLacking(word)).toBe(meant);
  });

  it("is known in other languages", () => {
    expect(stopWordSwapped("nihct", "de")).toBe("nicht");
    expect(stopWordSwapped("cuadno", "es")).toBe("cuando");
  });

  const right = (text: string, words: readonly string[], known: readonly string[] = []): string =>
    correctStopWords(
      text,
      words,
      "en",
      (word) => known.includes(word),
      () => false,
    );

  it("is put right in its text, whatever its case, and left where the documents have it or it is an abbreviation", () => {
    expect(right("Hwo do I, hwo?", ["hwo"])).toBe("how do I, how?");
    expect(right("HWO DO I", ["hwo"])).toBe("how DO I");
    expect(right("Does it run on AWS?", ["aws"])).toBe("Does it run on AWS?");
    expect(right("does it run on aws", ["aws"], ["aws"])).toBe("does it run on aws");
  });
});

describe("questions that are written in other words than the documents", () => {
  let answerer: Answerer;
  let workspaceId: string;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const opened = await openTestStore(newSqlite);
    const index = openEmbeddedIndex({ store: opened.store, path: ":memory:", log: silentLog });
    close = async () => {
      await index.close();
      await opened.close();
    };
    workspaceId = await newWorkspace(opened.store);
    await testKnowledge(opened.store).add(workspaceId, "handbook.md", handbook);
    answerer = createExtractiveAnswerer({ index });
  });
  afterAll(() => close());

  const ask = (text: string, synonyms: readonly (readonly string[])[] = []): Promise<Answer> =>
    answerer.answer(
      {
        workspaceId,
        text,
        history: [],
        strictness: "strict",
        topK: 5,
        audience: [],
        settings: { ...defaultSettings, synonyms },
      },
      new AbortController().signal,
    );

  it.each([
    "How long is the waranty?",
    "How long is the warrnaty of a lamp?",
    "waht is the warrranty of a lamp",
    "Hwo long is teh waranty?",
    "wat is the waranty of a lamp plz",
    "WHIHC WARANTY DO YUO GIVE ON A LAMP",
  ])("are answered with slips of the finger: %s", async (text) => {
    const answer = await ask(text);
    expect(answer).toMatchObject({ answered: true });
    expect(answer.text).toContain("three years");
  });

  it("are not answered if their only name is in no document", async () => {
    expect((await ask("Can I lease a projector?")).answered).toBe(false);
    expect((await ask("Where is the embassy?")).answered).toBe(false);
  });

  it("are answered by the synonyms of the workspace, one for the other", async () => {
    expect((await ask("What does the hub join?")).answered).toBe(false);
    const answer = await ask("What does the hub join?", [["hub", "Gateway", "base station"]]);
    expect(answer.text).toContain("up to forty lamps");
    const phrase = await ask("What does the base station join?", [["hub", "Gateway", "base station"]]);
    expect(phrase.text).toContain("up to forty lamps");
  });

  it("are answered by a phrase of the documents that a short name stands for", async () => {
    expect((await ask("What is SSO?")).answered).toBe(false);
    const answer = await ask("What is SSO?", [["SSO", "single sign-on"]]);
    expect(answer.text).toContain("identity provider");
  });

  it("find a synonym of what a misspelt word was meant for", async () => {
    const answer = await ask("What does the parcle join?", [["parcel", "gateway"]]);
    expect(answer.text).toContain("up to forty lamps");
  });
});

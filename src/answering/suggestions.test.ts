import { describe, expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Question } from "./contract.ts";
import type { Found } from "./rank/search-further.ts";
import { nearestOf, placeIn, suggestionTexts } from "./suggestions.ts";

const question: Question = {
  workspaceId: "wt_aaaaaa_bbbbbbbbbb",
  text: "can my wife fetch it",
  history: [],
  strictness: "strict",
  topK: 5,
  audience: [],
  settings: defaultSettings,
};
it("names at most three titles, each once", () => {
  expect(suggestionTexts(question, ["A", "B", "A", "C", "D"])).toEqual([
    "Did you mean one of these? Reply with its number.",
    "1. A\n2. B\n3. C",
  ]);
  expect(suggestionTexts(question, [])).toEqual([]);
});

it("knows the place of a title that it has named, and of no other", () => {
  const titles = ["Delivery › Nobody home?", "Returns › Nobody home?", "*Sales*"];
  const refusal = suggestionTexts(question, titles).join("\n\n");
  expect(titles.map((title) => placeIn(refusal, title))).toEqual([0, 0, 1]);
  expect(placeIn(refusal, "Sales")).toBeUndefined();
  expect(placeIn("1. Not\n2. a refusal", "*Sales*")).toBeUndefined();
});

describe("the passages of a refusal", () => {
  const passage = (title: string, score: number, similarity?: number) => ({ candidate: { title, similarity }, score });
  const nearest = (comparesMeaning: boolean, ...passages: readonly ReturnType<typeof passage>[]) => {
    const by = { comparesMeaning, confidenceOfScore: (score: number) => score };
    return nearestOf(passages.map((each) => ({ passage: each, by }) as unknown as Found)).map(
      ({ passage: { candidate }, isNear }) => `${candidate.title} ${isNear ? "near" : "far"}`,
    );
  };

  it("are near by their words where meaning is not compared", () => {
    expect(nearest(false, passage("A", 0.05), passage("B", 0.2))).toEqual(["A far", "B near"]);
  });

  it("are near by words and meaning together where both are, the nearest first", () => {
    const found = [passage("A", 0.15, 0.1), passage("B", 0.1, 0.4), passage("C", 0, 0.6), passage("D", 0.1, -0.5)];
    expect(nearest(true, ...found)).toEqual(["B near", "C near", "A far", "D far"]);
  });
});

it("shortens a title to its heading where that is a question", () => {
  const [, titles] = suggestionTexts(question, ["Delivery › Nobody home?", "Delivery › Costs", "*Sales*"]);
  expect(titles).toBe(String.raw`1. Nobody home?` + "\n2. Delivery › Costs\n" + String.raw`3. \*Sales\*`);
});

it("asks in the customer's language", () => {
  const german = { ...question, text: "Kann meine Frau das für mich abholen?" };
  expect(suggestionTexts(german, ["A"])[0]).toMatch(/^Meinten Sie/);
});

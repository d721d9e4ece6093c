import { expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Question } from "./contract.ts";
import { suggestionTexts } from "./suggestions.ts";

const question: Question = {
  workspaceId: "wt_aaaaaa_bbbbbbbbbb",
  text: "can my wife fetch it",
  history: [],
  strictness: "strict",
  topK: 5,
  audience: [],
  settings: defaultSettings,
};
const source = (title: string, score: number) => ({ title, score, chunk: `About ${title}` });

it("names at most three titles, each once, the nearest first", () => {
  const near = ["A", "B", "A", "C", "D"].map((title, at) => source(title, 0.25 - at / 100));
  expect(suggestionTexts(question, near)).toEqual([
    "Did you mean one of these? Reply with its number.",
    "1. A\n2. B\n3. C",
  ]);
});

it("names nothing that is far from the question", () => {
  expect(suggestionTexts(question, [source("A", 0.05)])).toEqual([]);
  expect(suggestionTexts(question, [])).toEqual([]);
});

it("shortens a title to its heading where that is a question", () => {
  const [, titles] = suggestionTexts(question, [
    source("Delivery › Nobody home?", 0.2),
    source("Delivery › Costs", 0.19),
    source("*Sales*", 0.18),
  ]);
  expect(titles).toBe(String.raw`1. Nobody home?` + "\n2. Delivery › Costs\n" + String.raw`3. \*Sales\*`);
});

it("asks in the customer's language", () => {
  const german = { ...question, text: "Kann meine Frau das für mich abholen?" };
  expect(suggestionTexts(german, [source("A", 0.2)])[0]).toMatch(/^Meinten Sie/);
});

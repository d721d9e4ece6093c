import { describe, expect, it } from "vitest";
import { weighTerms, withSynonyms } from "#answering/understand/asked-terms.ts";
import { answerFloor, bandOf, confidenceOf } from "./confidence.ts";
import { rank, scoreLimit } from "./ranking.ts";
import { termsOf } from "#language/words/terms.ts";
import type { Candidate } from "#knowledge/index/contract.ts";

const candidate = (chunkId: string, title: string, text: string): Candidate => ({
  chunkId,
  documentId: chunkId,
  position: 0,
  title,
  text,
  url: null,
  titleTerms: termsOf(title),
  bodyTerms: termsOf(text),
});
const statistics = {
  chunkCount: 1_000,
  averageTerms: 10,
  frequency: new Map([
    ["kettl", 300],
    ["limescal", 4],
    ["lid", 20],
  ]),
};
const order = (question: string, candidates: readonly Candidate[]) => {
  const asked = weighTerms(termsOf(question), statistics);
  return rank(asked, { ...statistics, candidates }).map((each) => each.candidate.chunkId);
};

describe("ranking", () => {
  it("ranks rare words above frequent ones", () => {
    expect(
      order("kettle limescale", [candidate("a", "x", "kettle kettle kettle"), candidate("b", "x", "limescale")]),
    ).toEqual(["b", "a"]);
  });

  it("weighs the title more than the text", () => {
    expect(
      order("limescale", [candidate("a", "other things", "limescale"), candidate("b", "limescale", "other things")]),
    ).toEqual(["b", "a"]);
  });

  it("prefers the shorter of two passages with the same words", () => {
    const filler = "one two three four five six seven eight nine ten eleven twelve";
    expect(order("lid", [candidate("a", "x", `lid ${filler}`), candidate("b", "x", "lid")])).toEqual(["b", "a"]);
  });

  it("orders equal scores the same way every time", () => {
    expect(order("lid", [candidate("b", "x", "lid"), candidate("a", "x", "lid")])).toEqual(["a", "b"]);
  });

  it("ranks a synonym a little below the word itself", () => {
    expect(withSynonyms(termsOf("shipping"))).toContain(termsOf("delivery")[0]);
    expect(
      order("shipping", [candidate("a", "x", "delivery"), candidate("b", "x", "shipping"), candidate("c", "x", "lid")]),
    ).toEqual(["b", "a", "c"]);
  });

  it("never exceeds scoreLimit", () => {
    const asked = weighTerms(termsOf("limescale lid"), statistics);
    const [best] = rank(asked, {
      ...statistics,
      candidates: [candidate("a", "limescale lid ".repeat(50), "limescale lid ".repeat(50))],
    });
    expect(best?.score).toBeLessThan(scoreLimit(asked));
  });
});

describe("confidence", () => {
  const confidence = (question: string, text: string) => {
    const asked = weighTerms(termsOf(question), statistics);
    return confidenceOf(
      rank(asked, { ...statistics, candidates: [candidate("a", text, text)] })[0]?.score ?? 0,
      asked,
      statistics.chunkCount,
    );
  };

  it("is between 0 and 1, and 0 without terms or passages", () => {
    expect(confidence("", "lid")).toBe(0);
    expect(confidence("weather", "lid")).toBe(0);
    expect(confidenceOf(0, weighTerms(["lid"], { ...statistics, chunkCount: 0 }), 0)).toBe(0);
    expect(confidence("limescale lid", "limescale lid")).toBeGreaterThan(answerFloor.strict);
    expect(confidence("limescale lid", "limescale lid")).toBeLessThan(1);
  });

  it("falls with every missing word, most with words that no passage has", () => {
    const all = confidence("limescale lid", "limescale lid");
    const frequentMissing = confidence("limescale lid kettle", "limescale lid");
    const unknownMissing = confidence("limescale lid giraffe", "limescale lid");
    expect(frequentMissing).toBeLessThan(all);
    expect(unknownMissing).toBeLessThan(frequentMissing);
  });

  it("hardly falls with missing soft words", () => {
    expect(confidence("what is the best limescale lid", "limescale lid")).toBeGreaterThan(
      confidence("limescale lid giraffe", "limescale lid"),
    );
  });

  it("is low below the strict floor", () => {
    expect([bandOf(answerFloor.strict - 0.001), bandOf(answerFloor.strict), bandOf(0.9)]).toEqual([
      "low",
      "medium",
      "high",
    ]);
    expect(answerFloor.helpful).toBeLessThan(answerFloor.strict);
  });
});

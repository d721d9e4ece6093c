import { describe, expect, it } from "vitest";
import { understand } from "#answering/question.ts";
import { termsOf, wordsOf } from "#answering/terms.ts";

describe("terms", () => {
  it("are stems of content words, without case, accents and apostrophes", () => {
    expect(termsOf("How do I reset the Café's passwords? Don't know!")).toEqual(["reset", "cafe", "password", "know"]);
  });

  it("are found in any script, also where words are not parted by spaces", () => {
    expect(termsOf("Чайники Größe")).toEqual(["чаиники", "große"]);
    expect(wordsOf("電気ケトルの保証").length).toBeGreaterThan(1);
    expect(wordsOf("हिन्दी")).toEqual(["हिन्दी"]);
  });

  it("are few and short however long a word is", () => {
    expect(termsOf("x".repeat(100_000))[0]?.length).toBeLessThanOrEqual(64);
    expect(termsOf("😀 … — !!!")).toEqual([]);
  });
});

describe("a follow-up question", () => {
  const history = [
    { role: "user", content: "What does express delivery cost?" },
    { role: "assistant", content: "It costs 9.90 €." },
  ];

  it("borrows the subject from what the customer asked before", () => {
    for (const text of ["and how long does it take?", "Why?", "how long is that?", "And abroad?", "what about it"]) {
      expect(understand(text, history).borrowed, text).toEqual(termsOf("express delivery cost"));
    }
  });

  it("passes over messages that only pointed elsewhere themselves", () => {
    const longer = [
      ...history,
      { role: "user", content: "and why is that?" },
      { role: "assistant", content: "Because." },
    ];
    expect(understand("how?", longer).borrowed).toEqual(termsOf("express delivery cost"));
  });

  it("is none where the question has a subject of its own", () => {
    for (const text of ["How do I return a kettle?", "Which payment methods are accepted in the shop?", "gift cards"]) {
      expect(understand(text, history).borrowed, text).toEqual([]);
    }
  });
});

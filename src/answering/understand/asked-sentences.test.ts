import { describe, expect, it } from "vitest";
import { splitMessage } from "./asked-sentences.ts";

describe("splitMessage", () => {
  it.each([
    ["my kettle leaks, and can I send it back?", "and can I send it back?", "my kettle leaks"],
    ["we have two shops. can each one have its own prices?", "can each one have its own prices?", "we have two shops."],
    ["I bought a lid yesterday and it is broken. Why?", "Why?", "I bought a lid yesterday and it is broken."],
    ["The lamp is dark, what should I check?", "what should I check?", "The lamp is dark"],
    ["My boss wants to know what this costs us.", "what this costs us.", ""],
    ["Could you please explain how the timer works?", "how the timer works?", ""],
    ["Meine Chefin möchte wissen, wie lange die Garantie gilt.", "wie lange die Garantie gilt.", ""],
    ["How do I order a lid? Mine was lost in the move.", "How do I order a lid?", "Mine was lost in the move."],
    ["How do I order a lid, since mine was lost?", "How do I order a lid", "since mine was lost?"],
  ])("%s", (text, asked, context) => {
    expect(splitMessage(text)).toEqual({ asked, context });
  });

  it("finds the question in an e-mail", () => {
    const letter = `Dear team,

last summer my sister told me what she thinks of your kettles, and I bought a blue one in your shop in
Lyon. It works well. I know how to clean it.

One thing I could not find: how long is the warranty?

Kind regards
Anna`;
    expect(splitMessage(letter)?.asked).toBe("how long is the warranty?");
    expect(splitMessage(letter)?.context).toContain("It works well.");
  });

  it.each([
    "How do I return an item?",
    "What is it? Can I return it?",
    "The kettle does not start",
    "thanks a lot!",
    "opening hours saturday",
    "",
  ])("does not split a single question: %s", (text) => {
    expect(splitMessage(text)).toBeUndefined();
  });

  it("parses hostile texts fast, and returns three questions at most", () => {
    for (const text of ["how ", "and can i ", "? ", "know ", ", how do", "I ask, ", "a.b", "…, weil "])
      expect(splitMessage(text.repeat(10_000))?.asked.length ?? 0).toBeLessThanOrEqual(8_000);
    expect(splitMessage("I am lost. What is a? What is b? What is c? What is d?")?.asked).toBe(
      "What is b? What is c? What is d?",
    );
  });
});

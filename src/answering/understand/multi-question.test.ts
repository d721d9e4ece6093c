import { describe, expect, it } from "vitest";
import { questionsIn } from "./multi-question.ts";

describe("questionsIn", () => {
  it.each([
    ["How do I connect Telegram and what does it cost?", ["How do I connect Telegram", "and what does it cost?"]],
    ["I bought a kettle. Is it broken? Can I return it?", ["I bought a kettle. Is it broken?", "Can I return it?"]],
    [
      "How do I add it, how do I edit it and how do I list it?",
      ["How do I add it", "how do I edit it", "and how do I list it?"],
    ],
    ["which languages and which file types?", ["which languages", "and which file types?"]],
    ["Wie lange dauert der Versand und was kostet er?", ["Wie lange dauert der Versand", "und was kostet er?"]],
    ["Combien coûte la livraison et quand arrive-t-elle ?", ["Combien coûte la livraison", "et quand arrive-t-elle ?"]],
    ["送料はいくらですか？返品できますか？", ["送料はいくらですか？", "返品できますか？"]],
  ])("%s", (text, parts) => {
    expect(questionsIn(text)).toEqual(parts);
  });

  it.each([
    "What is the difference between when I claim and when I snooze?",
    "Which channels exist and are supported?",
    "How do I back up and restore?",
    "My order is late and the parcel is damaged. What can I do?",
    "How do I add a document? I have tried everything! Please.",
    "If I forgot it, how do I reset my password?",
    "Comment retourner un article ? Il ne me plaît pas.",
    "Where is my parcel? Kim ordered it.",
    "No idea how, please tell me",
    "Terms and conditions",
  ])("returns a single question: %s", (text) => {
    expect(questionsIn(text)).toEqual([text]);
  });

  it("does not split long texts, and returns three questions at most", () => {
    const many = "How is it? What is it? Where is it? When is it?";
    expect(questionsIn(many)).toEqual(["How is it?", "What is it?", "Where is it? When is it?"]);
    expect(questionsIn(`${"We waited. ".repeat(60)}How is it? What is it?`)).toHaveLength(1);
  });

  it("does not split hostile texts", () => {
    for (const text of [`${"and ".repeat(149)}?`, "? ".repeat(300), "how ".repeat(148), ", how do".repeat(74)])
      expect(questionsIn(text)).toEqual([text]);
  });
});

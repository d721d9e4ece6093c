import { expect, it } from "vitest";
import { withoutRepeatedSentences } from "./repeated-sentences.ts";

const reply = [
  "I don't know: I could not find the answer in our documentation. You can put the question another way, or **ask to talk to a human**.",
  "",
  "Yes.",
  "1. Can I return items that I have opened?",
].join("\n");

it.each([
  [
    "wrapped",
    "The blue one.\n\nI don't know: I could not find the\nanswer in our documentation. You can put the\nquestion another way, or ask to talk to a human.\n",
  ],
  [
    "marked",
    "The blue one.\n\n> I don't know: I could not find the answer in our documentation.\n> You can put the question another way, or ask to talk\n> to a human.",
  ],
  [
    "in the middle",
    "I don't know: I could not find the answer in our documentation.\nThe blue one.\nYou can put the question another way, or ask to talk to a human.",
  ],
  ["in capitals, on one line", "The blue one. YOU CAN PUT THE QUESTION ANOTHER WAY, OR ASK TO TALK TO A HUMAN."],
])("leaves out a quoted sentence that is %s", (_how, text) => {
  expect(withoutRepeatedSentences(text, [reply])).toBe("The blue one.");
});

it.each([
  ["short sentences, which anybody may write", "Yes."],
  ["a title that the bot offered", "Can I return items that I have opened? I am in Austria."],
  ["a part of a sentence", "I want to ask to talk to a human."],
  ["a sentence with another word", "You can put the question another way, or ask to talk to my cat."],
])("keeps %s", (_what, text) => {
  expect(withoutRepeatedSentences(text, [reply])).toBe(text);
});

it("recognises sentences of scripts without spaces between words", () => {
  const said = "很抱歉，我在我们的文档中没有找到答案。您可以换一种说法提问，或要求与人工客服交谈。";
  expect(withoutRepeatedSentences(`是蓝色的那个\n\n${said}`, [said])).toBe("是蓝色的那个");
});

it("returns a text unchanged that is too long to be compared, or repeats nothing", () => {
  const long = "You can put the question another way, or ask to talk to a human. ".repeat(600);
  expect(withoutRepeatedSentences(long, [reply])).toBe(long);
  expect(withoutRepeatedSentences("  The blue one.\n\n\n\nPlease. ", [reply])).toBe("  The blue one.\n\n\n\nPlease. ");
});

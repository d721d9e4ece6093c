import { expect, it } from "vitest";
import { typedRating } from "./typed-rating.ts";

it("reads a number, a number with a comment, and stars", () => {
  for (const [text, rating] of [
    ["4", { score: 4 }],
    [" 5! ", { score: 5 }],
    ["4/5", { score: 4 }],
    ["5 ⭐", { score: 5 }],
    ["★★★", { score: 3 }],
    ["⭐️⭐️⭐️⭐️⭐️", { score: 5 }],
    ["２", { score: 2 }],
    ["٤", { score: 4 }],
    ["۳", { score: 3 }],
    ["4, quick reply", { score: 4, comment: "quick reply" }],
    ["2 - I waited\nfor a day.", { score: 2, comment: "I waited\nfor a day." }],
    ["5、ありがとう", { score: 5, comment: "ありがとう" }],
  ] as const) {
    expect(typedRating(text)).toEqual(rating);
  }
});

it("leaves everything else to the bot and the agents", () => {
  for (const text of [
    "",
    "0",
    "6",
    "10",
    "45",
    "4.5",
    "3 days ago I ordered a lamp",
    "Is it 4?",
    "5, but where is my parcel?",
    "1) It does not start",
    "★★★★★★",
    "thanks",
  ]) {
    expect(typedRating(text)).toBeUndefined();
  }
});

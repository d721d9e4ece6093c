import { describe, expect, it } from "vitest";
import { understand } from "#answering/understand/question.ts";
import { weighTerms } from "#answering/understand/asked-terms.ts";
import { hasAskedKind } from "./evidence-penalty.ts";

const asked = weighTerms([], { frequency: new Map(), chunkCount: 1 });
const asks = (text: string, before: readonly string[] = []) =>
  understand(
    text,
    before.map((content) => ({ role: "user", content })),
  ).asks;

describe("a question for a price", () => {
  it.each([
    "how much is a pod",
    "What does it cost to post a card?",
    "what's the fee",
    "price for two",
    "What do I owe?",
  ])("is recognised: %s", (text) => expect(asks(text)).toBe("price"));

  it.each([
    ["how much does the lamp weigh", "amount"],
    ["how much memory does it need", "amount"],
    ["how much is left on my card", "amount"],
    ["how much was delivered", "amount"],
    ["What do I do if the scooter won't charge?", "steps"],
    ["What is the battery charge time?", "definition"],
    ["What will happen when I do not pay?", "anything"],
    ["Is there a free trial?", "anything"],
  ])("is not every question for an amount: %s", (text, kind) => expect(asks(text)).toBe(kind));

  it("is repeated for another thing", () => {
    expect(asks("what about a tandem", ["how much is it to rent a bike"])).toBe("price");
  });

  it.each([
    "£36 a day",
    "start_eur: 1.60",
    "It is free.",
    "Price: 12",
    "A fee of 3 is added.",
    "2 % of the sum",
    "99 kr.",
    "300 zł",
    "SEK 99",
    "₺300",
  ])("is answered by: %s", (text) => expect(hasAskedKind(text, "price", asked)).toBe(true));

  it.each(["Up to 16 guests", "Reserve one day ahead.", "There are prices on the page."])(
    "is not answered by: %s",
    (text) => expect(hasAskedKind(text, "price", asked)).toBe(false),
  );
});

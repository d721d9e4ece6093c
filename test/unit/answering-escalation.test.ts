import { expect, it } from "vitest";
import { asksForHuman } from "#answering/escalation.ts";
import { defaultSettings } from "#domain/workspace.ts";

const asks = (text: string, phrases = defaultSettings.escalationPhrases) => asksForHuman(text, phrases);

it.each([
  "I want to talk to a human",
  "TALK TO A HUMAN!!!",
  "please, talk   to a\nperson.",
  "Can I speak to an agent?",
  "real person now",
  "This does not work, I want a human",
  "I don't understand this. Get a human",
  "your answer is not helpful so connect me to an agent",
  "Why can't I talk to a human?",
  "can I not speak to someone about this",
  "don't you have a live agent?",
  "No! I need a human",
])("hears that a person is asked for: %s", (text) => {
  expect(asks(text)).toBe(true);
});

it.each([
  "I don't want a human",
  "no need to talk to a human",
  "I do not want to talk to a person",
  "I’d rather not speak to an agent",
  "I never want to talk to someone again",
  "you can answer without a human agent",
  "How do humans talk?",
  "superhuman agents",
  "talk to a humanoid",
  "",
])("does not take this for it: %s", (text) => {
  expect(asks(text)).toBe(false);
});

it("matches a workspace's own phrases without case and accents, whole words only", () => {
  expect(asks("je veux parler À UN CONSEILLER", ["parler a un conseiller"])).toBe(true);
  expect(asks("Operator, please", ["operator"])).toBe(true);
  expect(asks("cooperators", ["operator"])).toBe(false);
  expect(asks("anything", ["", "  ", "…"])).toBe(false);
});

it("hears it when one of several mentions is not denied", () => {
  expect(asks("I don't want a human agent from sales, I want a human from support")).toBe(true);
});

it("stays quick on long text", () => {
  const start = performance.now();
  asks("not a human talk to ".repeat(4_000));
  expect(performance.now() - start).toBeLessThan(1_500);
});

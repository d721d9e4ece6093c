import { expect, it } from "vitest";
import { withoutDenial } from "./denial.ts";

it.each([
  ["I don't want a human, how do I add a document?", "how do I add a document?"],
  ["no human please, how do I add a document", "how do I add a document"],
  ["I do not need an agent. What does confidence mean?", "What does confidence mean?"],
  ["How do I add a document? I don’t want to talk to a person.", "How do I add a document?"],
  ["I dont want to talk to a person but how do i add a document", "how do i add a document"],
  ["how do I add a document without talking to a human?", "how do I add a document?"],
  ["Ich will keinen Menschen, wie füge ich ein Dokument hinzu?", "wie füge ich ein Dokument hinzu?"],
  ["Je ne veux pas parler à un humain, comment ajouter un document ?", "comment ajouter un document ?"],
  ["No quiero hablar con una persona, ¿cómo añado un documento?", "¿cómo añado un documento?"],
  ["Non voglio parlare con una persona, come aggiungo un documento?", "come aggiungo un documento?"],
  ["Ik wil geen medewerker spreken, hoe voeg ik een document toe?", "hoe voeg ik een document toe?"],
  ["我不要人工，怎么修改密码？", "怎么修改密码？"],
])("removes a denied request before a question: %s", (text, asked) => {
  expect(withoutDenial(text)).toBe(asked);
});

it.each([
  "I don't want a human",
  "I don't see any agent in the inbox, why?",
  "Can an agent close a conversation without a note?",
  "How many people, agents or not, can be in a team?",
  "Why can the bot not read a PDF?",
  "",
])("does not change: %s", (text) => {
  expect(withoutDenial(text)).toBe(text);
});

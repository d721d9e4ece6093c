import { describe, expect, it } from "vitest";
import { createQuestionIndex, joinedTerms, questionTerms } from "./similarity.ts";

function groupsOf(questions: readonly string[]): readonly number[] {
  const index = createQuestionIndex();
  return questions.map((question, at) => {
    const terms = questionTerms(question);
    const id = index.nearest(terms);
    if (id === undefined) index.add(String(at), terms);
    return Number(id ?? at);
  });
}

describe("similar questions", () => {
  it("are the same question in other words and forms of words", () => {
    expect(
      groupsOf([
        "How do I cancel my subscription?",
        "Do you ship to Norway?",
        "cancelling a subscription",
        "I want to cancel the subscriptions please, how?",
        "shipping to Norway possible?",
      ]),
    ).toEqual([0, 1, 0, 0, 1]);
  });

  it("are the same question with other words for the same thing", () => {
    expect(
      groupsOf([
        "Where can I hire a bicycle?",
        "bike rental, where?",
        "How do I send back an order?",
        "Where can I hire a tent?",
        "Can I return an order?",
      ]),
    ).toEqual([0, 0, 2, 3, 2]);
  });

  it("join words that were stored apart", () => {
    expect(joinedTerms(["bike", "hire", "rental"])).toEqual(questionTerms("rent a bicycle"));
  });

  it("are compared by the stems of their language", () => {
    expect(
      groupsOf([
        "Wie kann ich meine Rechnung herunterladen?",
        "Wo finde ich das Lager der Pakete?",
        "Ich möchte alle Rechnungen herunterladen",
      ]),
    ).toEqual([0, 1, 0]);
  });

  it("have more in common than words of any question", () => {
    expect(
      groupsOf(["I need help with a problem with my printer", "I need help with a problem with my invoice"]),
    ).toEqual([0, 1]);
  });

  it("give the same groups each time", () => {
    const questions = ["reset password", "reset the password of a colleague", "password reset mail", "colleague mail"];
    expect(groupsOf(questions)).toEqual(groupsOf(questions));
  });

  it("are none without a word to compare", () => {
    expect(questionTerms("???")).toEqual([]);
  });
});

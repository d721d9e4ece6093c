import { describe, expect, it } from "vitest";
import { createJoinLines } from "./hyphens.ts";

/** Joins the last two lines of a document. */
function joined(...lines: readonly string[]): string {
  return createJoinLines(lines)(lines.slice(-2));
}

describe("a hyphen at the end of a line", () => {
  it.each([
    ["die Vertrags-", "laufzeit endet", "die Vertragslaufzeit endet"],
    ["with-", "in thirty days", "within thirty days"],
    ["Rück-", "sendekosten", "Rücksendekosten"],
  ])("goes where a word is broken: %s %s", (text, next, expected) => {
    expect(joined(text, next)).toBe(expected);
  });

  it.each([
    ["Ein-", "und Ausgang", "Ein- und Ausgang"],
    ["Ein- und", "Ausgang", "Ein- und Ausgang"],
    ["Versand-/", "Packkosten", "Versand-/Packkosten"],
    ["a loose -", "dash", "a loose - dash"],
  ])("keeps the space beside it: %s %s", (text, next, expected) => {
    expect(joined(text, next)).toBe(expected);
  });

  it.each([
    ["the E-", "mail", "the E-mail"],
    ["Ihre E-Mail-", "Adresse", "Ihre E-Mail-Adresse"],
    ["der Kunden-", "Service", "der Kunden-Service"],
    ["model X-", "200", "model X-200"],
    ["for 20-", "30 watts", "for 20-30 watts"],
    ["a 24-", "month guarantee", "a 24-month guarantee"],
    ["up-to-", "date parts", "up-to-date parts"],
  ])("stays where no program breaks words: %s %s", (text, next, expected) => {
    expect(joined(text, next)).toBe(expected);
  });

  it("stays where the document writes the word with it elsewhere, and goes where it writes it without", () => {
    expect(joined("Our Long-term plans.", "We offer long-", "term plans.")).toBe("We offer long-term plans.");
    expect(joined("Mind the notebook.", "A note on this book.", "Buy a note-", "book here.")).toBe(
      "Buy a notebook here.",
    );
    expect(joined("price-determining, pricedetermining, price-determining", "a price-", "determining part")).toBe(
      "a price-determining part",
    );
  });

  it("stays between two words of the document that it writes together nowhere", () => {
    expect(joined("A long term.", "We offer long-", "term plans.")).toBe("We offer long-term plans.");
    // A noun alone has a capital letter, the end of a compound has none.
    expect(joined("Ihre Kunden haben ein Konto.", "das Kunden-", "konto")).toBe("das Kundenkonto");
  });

  it("goes between short words only where the document breaks words", () => {
    const words = ["Go in and out with the pay slip.", "Wait for the pay-", "out of it."];
    expect(joined(...words)).toBe("Wait for the pay-out of it.");
    expect(joined("The con-", "tract ends.", ...words)).toBe("Wait for the payout of it.");
  });
});

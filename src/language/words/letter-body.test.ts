import { describe, expect, it } from "vitest";
import { letterBody } from "./letter-body.ts";

describe("what a letter says", () => {
  it.each([
    ["Hello,\n\nHow long is the warranty?\n\nBest regards\nAda Lovelace", "How long is the warranty?"],
    ["Returns\n\nDear team,\nhow do I return a lamp?\n\nThanks, Ada", "Returns\n\nhow do I return a lamp?"],
    ["Sehr geehrte Damen und Herren,\n\nwo ist mein Paket?\n\nMit freundlichen Grüßen\nJürgen", "wo ist mein Paket?"],
    ["Bonjour,\noù est mon colis ?\nCordialement,\nLéa Martin\nLyon", "où est mon colis ?"],
    ["Hola\n\n¿Cuánto cuesta?\n\nMuchas gracias, Ana", "¿Cuánto cuesta?"],
    ["Hi there\nWhere is it?\n\nThank you very much!\nJohn\nTel. 0123 456", "Where is it?\n\nTel. 0123 456"],
  ])("is kept without salutation, closing and name: %j", (text, body) => {
    expect(letterBody(text).replaceAll(/\n{2,}/g, "\n\n")).toBe(body);
  });

  it.each([
    "How much is shipping?",
    "Hello, how much is shipping?",
    "Hi\nThanks",
    "I have two questions.\nThanks for the lamp. Does it need a bulb?",
    "Dear is the lamp in your shop, and cheaper elsewhere, so what do you say to that\nand when?",
    "Which is better?\nBest lamps for a desk",
    "Which is it?\nThanks\nAda\nOne more thing: does it dim?",
    "",
  ])("is all of it where nothing else stands there: %j", (text) => {
    expect(letterBody(text)).toBe(text);
  });
});

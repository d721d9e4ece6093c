import { array, assert, constantFrom, emailAddress, oneof, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { maskPersonalData } from "./personal-data.ts";

const random = () => Math.random().toString(36).slice(2, 8);
const masked = (text: string) => maskPersonalData([text], random).texts[0] ?? "";

describe("personal data", () => {
  it.each([
    ["an e-mail address", "write to anna.berg+shop@mail.example.org please", "anna.berg"],
    ["an address with an umlaut", "jörg@köln.example", "jörg"],
    ["a phone number", "call me at +49 (0)30 1234-567", "1234"],
    ["a number of the own country", "my number is 030 1234567.", "1234567"],
    ["an American number", "call (555) 123-4567 or 555-123-4567", "4567"],
    ["a card number", "I paid with 4111 1111 1111 1111 yesterday", "1111"],
    ["a card number without spaces", "card:4111111111111111", "4111"],
    ["a bank account", "my IBAN: DE89 3704 0044 0532 0130 00", "3704"],
    ["a bank account in small letters", "gb82west12345698765432", "west"],
  ])("%s does not reach the model", (_what, text, secret) => {
    expect(masked(text)).not.toContain(secret);
  });

  it.each([
    "How long does delivery take?",
    "Order 12345 of 2024-05-14 at 14:00",
    "it costs 1,299.00 € or 40 $",
    "version 3.2.1 on port 8080",
    "1234 5678 9012 3456 is no card",
    "DE00 3704 1044 5532 1130 11 is no account",
    "12.05.2024",
  ])("is not detected in: %s", (text) => {
    expect(masked(text)).toBe(text);
  });

  it("gets one placeholder per value", () => {
    const { texts } = maskPersonalData(["I am a@x.example", "a@x.example and b@x.example"], random);
    const [first] = /EMAIL_\w+/u.exec(texts[0] ?? "") ?? [];
    expect(texts[1]?.startsWith(`${first} and EMAIL_`)).toBe(true);
    expect(texts[1]?.endsWith(first ?? "")).toBe(false);
  });

  const personal = oneof(
    emailAddress(),
    constantFrom(
      "+49 30 1234567",
      "4111 1111 1111 1111",
      "DE89370400440532013000",
      "EMAIL_1_abcdef",
      "PHONE_2_",
      "anna@mail.example",
      "00491701234567",
    ),
  );
  const text = array(oneof(personal, string({ unit: "grapheme" })), { maxLength: 8 }).map((parts) => parts.join(" "));

  it("is restored unchanged", () => {
    assert(
      property(array(text, { maxLength: 4 }), (texts) => {
        const { texts: hidden, restore } = maskPersonalData(texts, random);
        expect(hidden.map((each) => restore(each))).toEqual(texts);
      }),
    );
  });

  it("is restored when the text itself contains a placeholder", () => {
    let count = 0;
    const nonces = ["abcdef", "abcdef", "fedcba"];
    const { texts, restore } = maskPersonalData(["EMAIL_1_abcdef is a@x.example"], () => nonces[count++] ?? "");
    expect(texts).toEqual(["EMAIL_1_abcdef is EMAIL_1_fedcba"]);
    expect(restore(texts[0] ?? "")).toBe("EMAIL_1_abcdef is a@x.example");
  });

  it("is ignored in a judged sentence, but not within a link", () => {
    const { texts, withoutPlaceholders } = maskPersonalData(["a@x.example"], () => "abcdef");
    expect(texts).toEqual(["EMAIL_1_abcdef"]);
    expect(withoutPlaceholders("We write to EMAIL_1_abcdef.")).not.toContain("abcdef");
    expect(withoutPlaceholders("https://shop.example/EMAIL_1_abcdef")).toContain("abcdef");
  });
});

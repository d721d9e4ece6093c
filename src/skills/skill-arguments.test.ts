import { describe, expect, it } from "vitest";
import type { BusinessHours } from "#domain/workspace/business-hours.ts";
import { isOpen, openingStateOf } from "#domain/workspace/business-hours.ts";
import { languageOf } from "#language/message-language.ts";
import type { LookupSkill, SkillArgument } from "#domain/workspace/skill.ts";
import { chosenByPhrase } from "./chosen-by-phrase.ts";
import { fitsShape } from "./shape.ts";

const lookup = (phrases: readonly string[], ...given: readonly Partial<SkillArgument>[]): LookupSkill => ({
  kind: "lookup",
  name: "lookup",
  description: "",
  verified: false,
  method: "GET",
  safe: true,
  request: "",
  timeoutMs: 1,
  bytesMax: 1,
  fields: [],
  notFound: null,
  answer: null,
  phrases,
  arguments: given.map((each, at) => ({ name: `a${at}`, type: "string", description: "", optional: false, ...each })),
});

const valuesOf = (skill: LookupSkill, text: string) => {
  const choice = chosenByPhrase([skill], text, []);
  return choice?.kind === "call" ? choice.values : undefined;
};

describe("a pattern of an argument", () => {
  it.each<[string, string, boolean]>([
    ["BK-######", "bk-123456", true],
    ["BK-######", "BK-12345", false],
    ["BK-######", "BK-1234567", false],
    ["#+", "0", true],
    ["#+", "12345678901234567890", true],
    ["#+", "12a", false],
    ["@@-*+", "AB-1x2y", true],
    ["#+-#+", "12-3", true],
    ["*+@", "12345a", true],
    ["*+@", "12345", false],
    ["##.##", "12x34", false],
    ["#+", "", false],
  ])("%s and %s", (shape, text, fits) => {
    expect(fitsShape(text, shape)).toBe(fits);
  });

  it("matches no text of more than 100 characters", () => {
    expect([100, 101].map((length) => fitsShape("1".repeat(length), "#+"))).toEqual([true, false]);
  });
});

describe("a phrase", () => {
  const status = lookup(["status of order {a0}", "where is my order"], { shapes: ["BK-######"], ask: "Which?" });

  it.each<[string, object | undefined]>([
    ["What is the status of order BK-123456?", { a0: "BK-123456" }],
    ["STATUS OF ORDER (bk-123456)!", { a0: "bk-123456" }],
    ["where is my order BK-123456", { a0: "BK-123456" }],
    ["BK-123456: where is my order?", { a0: "BK-123456" }],
    ["The status of orders is unclear", undefined],
    ["BK-123456", undefined],
  ])("%s", (text, values) => {
    expect(valuesOf(status, text)).toEqual(values);
  });

  it("asks for a missing argument, and reads the next message as the reply", () => {
    expect(chosenByPhrase([status], "where is my order?", [])).toMatchObject({ kind: "ask", ask: "Which?" });
    const history = [
      { role: "user", content: "where is my order?" },
      { role: "assistant", content: "Which?" },
    ];
    expect(chosenByPhrase([status], "BK-123456", history)).toMatchObject({ values: { a0: "BK-123456" } });
    expect(chosenByPhrase([status], "never mind", history)).toBeUndefined();
    const gone = [...history, { role: "agent", content: "I look." }];
    expect(chosenByPhrase([status], "BK-123456", gone)).toBeUndefined();
  });

  it("extracts numbers, choices and values of several words", () => {
    const convert = lookup(
      ["price of {a0} in {a1}"],
      { type: "integer", minimum: 1, maximum: 9 },
      { choices: ["EUR", "New Pesos"] },
    );
    expect(valuesOf(convert, "price of 3 in eur")).toEqual({ a0: 3, a1: "EUR" });
    expect(valuesOf(convert, "price of 3 in new pesos, please")).toEqual({ a0: 3, a1: "New Pesos" });
    expect(valuesOf(convert, "price of 30 in eur")).toBeUndefined();
    expect(valuesOf(convert, "price of 3.5 in eur")).toBeUndefined();
  });
});

describe("business hours", () => {
  const hours: BusinessHours = {
    timezone: "Europe/Berlin",
    days: {
      monday: [
        { from: 540, to: 720 },
        { from: 780, to: 1_020 },
      ],
      wednesday: [{ from: 1_080, to: 1_440 }],
      thursday: [{ from: 0, to: 120 }],
      friday: [{ from: 540, to: 1_440 }],
    },
    holidays: ["2027-03-29"],
  };
  // Monday, 22 March 2027; the clocks change on the 28th.
  const at = (day: number, hour: number, minute = 0) => Date.UTC(2027, 2, day, hour, minute);

  it.each<[string, number, object]>([
    ["before opening", at(22, 7, 59), { open: false, time: "09:00", day: "monday", today: true }],
    ["open", at(22, 8), { open: true, time: "12:00", day: "monday", today: true }],
    ["at noon", at(22, 11), { open: false, time: "13:00", day: "monday", today: true }],
    ["after closing", at(22, 16), { open: false, time: "18:00", day: "wednesday", today: false }],
    ["over midnight", at(24, 20), { open: true, time: "02:00", day: "thursday", today: false }],
    ["until midnight", at(26, 22, 59), { open: true, time: "24:00", day: "friday", today: true }],
    [
      "over a holiday and the change of the clocks",
      at(27, 10),
      { open: false, time: "18:00", day: "wednesday", today: false },
    ],
  ])("%s", (_what, now, standing) => {
    expect(openingStateOf(hours, now)).toEqual(standing);
    expect(isOpen(hours, now)).toBe((standing as { open: boolean }).open);
  });

  it("never open, without an end", () => {
    expect(openingStateOf({ timezone: "UTC", days: {}, holidays: [] }, at(22, 8))).toMatchObject({
      open: false,
      time: null,
    });
  });
});

describe("the language of a message", () => {
  it.each<[string, string | null]>([
    ["How long does the delivery take?", "en"],
    ["Wie lange dauert die Lieferung?", "de"],
    ["Quels sont les délais de livraison pour la France ?", "fr"],
    ["¿Cuánto tiempo tarda el envío a mi casa?", "es"],
    ["配送にはどのくらいかかりますか", "ja"],
    ["Сколько стоит доставка?", "ru"],
    ["12345", null],
    ["", null],
  ])("%s", (text, language) => {
    expect(languageOf(text)).toBe(language);
  });
});

import { describe, expect, it } from "vitest";
import { styledText } from "./styled-text.ts";

/** Formatted words in brackets. */
const shown = (text: string): string =>
  styledText(text)
    .map((run) => (run.styles.length === 0 ? run.text : `[${run.text}]`))
    .join("");

describe("signs that are not meant as formatting", () => {
  it.each([
    "Dial *21*number# now",
    "Press *#06#* or *100*5#",
    "It is 60*40*30 cm, and 2**10**3",
    "a~~b~~c, ~5~ euros, __init__ and snake_case_name",
    "# of boxes: 3",
    "# of boxes: 3\nPlease count them",
    "+ 5 euros",
    "+ 5 euros\n+ 7 euros for each *more",
    "> 5 kg",
    ">= 5 kg",
    "1) first\n2) second",
    "5. Dezember",
    "- hello",
    "Best wishes\n--\nMia",
    "1. one\n5. five",
    String.raw`Open C:\temp\_old or \\server\share\_new\file.txt`,
    String.raw`¯\_(ツ)_/¯`,
    "Total\n===\n12",
  ])("arrive as typed: %s", (text) => {
    expect(shown(text)).toBe(text);
  });

  it.each([
    ["**5 euros** and *really*", "[5 euros] and [really]"],
    ["~~gone~~ and `code`", "[gone] and [code]"],
    ["# Title\n\nText", "[Title]\n\nText"],
    ["## Title\nText", "[Title]\n\nText"],
    ["- one\n- two\n  - inner", "• one\n• two\n  • inner"],
    ["> your words", "[your words]"],
    ["3. three\n4. four", "3. three\n4. four"],
    ["1. one\n1. two", "1. one\n2. two"],
    ["这是**重要**的。", "这是[重要]的。"],
    ["**환불**은 가능합니다", "[환불]은 가능합니다"],
    [String.raw`C:\\temp\\\_old, snake\_case and 2\*3`, String.raw`C:\temp\_old, snake_case and 2*3`],
  ])("do not hide those that are: %s", (text, expected) => {
    expect(shown(text)).toBe(expected);
  });
});

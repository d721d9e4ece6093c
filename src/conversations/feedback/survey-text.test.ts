import { expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { cannedText } from "#language/canned-texts.ts";
import { spokenLanguages } from "#language/locale.ts";
import { surveyTextOn } from "./survey-text.ts";

it.each(spokenLanguages)("asks without numbers where stars are below the question, in %s", (language) => {
  const text = cannedText(defaultSettings, language, "survey");
  expect(surveyTextOn("sms", text)).toBe(text);
  for (const channel of ["widget", "hosted"] as const) {
    const asked = surveyTextOn(channel, text);
    expect(asked).toMatch(/[?？؟]$/u);
    expect(asked).not.toMatch(/\d/u);
    expect(text.startsWith(asked)).toBe(true);
  }
});

it("leaves a text of the workspace whole if it explains no numbers", () => {
  for (const text of ["Rate us, please.", "Happy? Tell us.", "How was it?"])
    expect(surveyTextOn("widget", text)).toBe(text);
  expect(surveyTextOn("widget", "Did we help? Type 1 to 5.")).toBe("Did we help?");
});

import { describe, expect, it } from "vitest";
import { cannedTextFor } from "#answering/understand/asker-language.ts";
import { weekdayIn } from "#domain/workspace/business-hours.ts";
import { cannedText, settingsIn } from "./canned-texts.ts";
import { spokenLanguages } from "./locale.ts";
import { cannedKeys } from "./text-keys.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";

describe("what the bot says by itself", () => {
  it.each(spokenLanguages)("is there whole, and nothing twice, in %s", (language) => {
    const texts = cannedKeys.map((key) => cannedText(defaultSettings, language, key));
    expect(texts.filter((text) => text.trim() === "")).toEqual([]);
    expect(new Set(texts).size).toBe(cannedKeys.length);
  });

  it("uses the customer's language for files and look-ups, unless the workspace has its own text", () => {
    const german = settingsIn(defaultSettings, "de");
    expect(german.filesOnlyMessage).toMatch(/^In Dateien/);
    expect(german.lookupFailedMessage).toContain("nicht nachsehen");
    expect(german.lookupUnverifiedMessage).toContain("angemeldete Kunden");
    const own = {
      ...defaultSettings,
      lookupFailedMessage: "Later, please.",
      translations: { de: { files_only: "Keine Dateien." } },
    };
    expect(settingsIn(own, "de").lookupFailedMessage).toBe("Later, please.");
    expect(settingsIn(own, "de").filesOnlyMessage).toBe("Keine Dateien.");
    expect(settingsIn(own, "fr").filesOnlyMessage).toMatch(/^Je ne peux pas ouvrir/);
  });

  it("names days and languages where they are told", () => {
    for (const language of spokenLanguages) {
      const said = (key: "hours_later" | "unknown_language"): string => cannedText(defaultSettings, language, key);
      expect(said("hours_later"), language).toMatch(/\{day\}.*\{time\}.*\{timezone\}/u);
      expect(said("unknown_language"), language).toContain("{language}");
    }
    expect(weekdayIn("de", "wednesday")).toBe("Mittwoch");
    expect(weekdayIn("en", "monday")).toBe("Monday");
  });

  it("thanks for an address in the customer's language", () => {
    const question = {
      settings: defaultSettings,
      history: [],
      text: "Meine Adresse ist anna@shop.example, bitte melden",
    };
    expect(cannedTextFor(question, "lead_kept")).toMatch(/^Danke/);
    expect(cannedTextFor({ ...question, text: "Reach me at anna@shop.example" }, "lead_kept")).toMatch(/^Thank you/);
  });
});

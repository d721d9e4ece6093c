import { describe, expect, it } from "vitest";
import { cannedText } from "#language/canned-texts.ts";
import { localeOf } from "#language/locales.ts";
import { widgetTexts } from "#language/locales/en.ts";
import { cannedKeys } from "#language/text-keys.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { fill, languages } from "./strings.ts";

describe("texts", () => {
  it.each(languages.filter((lang) => lang !== "en"))("of %s are complete, with the same placeholders", (lang) => {
    const texts: Partial<typeof widgetTexts> = localeOf(lang)?.widget ?? {};
    expect(Object.keys(texts)).toEqual(Object.keys(widgetTexts));
    const places = (text: string): string => [...text.matchAll(/\{\w+\}/gu)].join();
    for (const [key, text] of Object.entries(widgetTexts)) {
      const translated = Object.entries(texts).find(([name]) => name === key)?.[1] ?? "";
      expect(translated, key).not.toBe("");
      expect(places(translated), `${lang}.${key}`).toBe(places(text));
    }
    expect(texts.placeholder).not.toBe(widgetTexts.placeholder);
  });

  it.each([
    ["es", "te tú tu tus contigo escribe espera deja introduce inténtalo vuelvas contactarte"],
    ["it", "ti tu tuo sei scrivi attendi lascia inserisci ricarica contattarti"],
    ["nl", "u uw uzelf"],
    ["fr", "tu toi ton ta tes"],
    ["de", "du dir dich dein deine deiner"],
    ["pt", "tu teu tua contigo escreve espera"],
  ] as const)("address the customer in %s in one way, as the bot does", (lang, wordsOfOtherAddress) => {
    const texts = [
      ...Object.values(localeOf(lang)?.widget ?? {}),
      ...cannedKeys.map((key) => cannedText(defaultSettings, lang, key)),
    ];
    const words = texts.flatMap((text) => text.toLowerCase().split(/[^\p{L}]+/u));
    expect(words.filter((word) => wordsOfOtherAddress.split(" ").includes(word))).toEqual([]);
  });

  it("are filled in without interpretation", () => {
    expect(fill("{name} writes", "$& <b>")).toBe("$& <b> writes");
  });
});

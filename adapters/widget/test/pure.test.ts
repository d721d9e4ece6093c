import { describe, expect, it } from "vitest";
import { cannedText } from "#language/bot-texts/bot-texts.ts";
import { cannedKeys } from "#language/bot-texts/languages.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { contrast, parseColor, readableOn, textOn } from "../browser/ui/color.ts";
import { backoffMs } from "../browser/connection.ts";
import { english, fill, languages } from "../browser/ui/strings.ts";
import { addressKey } from "../config.ts";
import { textsOf } from "../translations/texts.ts";

describe("colours", () => {
  it("reads #rgb and #rrggbb and nothing else", () => {
    expect(parseColor("#1f6feb")).toEqual([31, 111, 235]);
    expect(parseColor("#0aF")).toEqual([0, 170, 255]);
    for (const text of [undefined, "", "red", "#12345", "#1f6feb;background:red", "rgb(0 0 0)"])
      expect(parseColor(text)).toBeUndefined();
  });

  it("gives every accent a text that can be read on it, and a link that can be read on the surface", () => {
    for (let red = 0; red < 256; red += 51) {
      for (let green = 0; green < 256; green += 51) {
        for (let blue = 0; blue < 256; blue += 51) {
          const accent = [red, green, blue] as const;
          expect(contrast(accent, textOn(accent))).toBeGreaterThanOrEqual(4.5);
          for (const surface of [
            [255, 255, 255],
            [23, 25, 31],
          ] as const) {
            expect(contrast(readableOn(accent, surface), surface)).toBeGreaterThanOrEqual(4.5);
          }
        }
      }
    }
  });
});

describe("texts", () => {
  it.each(languages.filter((lang) => lang !== "en"))("of %s are all there, with the same places to fill in", (lang) => {
    const texts: Partial<typeof english> = textsOf(lang) ?? {};
    expect(Object.keys(texts)).toEqual(Object.keys(english));
    const places = (text: string): string => [...text.matchAll(/\{\w+\}/gu)].join();
    for (const [key, text] of Object.entries(english)) {
      const translated = Object.entries(texts).find(([name]) => name === key)?.[1] ?? "";
      expect(translated, key).not.toBe("");
      expect(places(translated), `${lang}.${key}`).toBe(places(text));
    }
    expect(texts.placeholder).not.toBe(english.placeholder);
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
      ...Object.values(textsOf(lang) ?? {}),
      ...cannedKeys.map((key) => cannedText(defaultSettings, lang, key)),
    ];
    const words = texts.flatMap((text) => text.toLowerCase().split(/[^\p{L}]+/u));
    expect(words.filter((word) => wordsOfOtherAddress.split(" ").includes(word))).toEqual([]);
  });

  it("are filled in as they are", () => {
    expect(fill("{name} writes", "$& <b>")).toBe("$& <b> writes");
  });
});

describe("reconnecting", () => {
  it("waits from a quarter of a second to half a minute, never the same for a crowd", () => {
    expect(backoffMs(0, 0)).toBe(250);
    expect(backoffMs(0, 1)).toBe(500);
    expect(backoffMs(4, 0.5)).toBe(6_000);
    expect(backoffMs(1_000, 1)).toBe(30_000);
  });
});

describe("limits by address", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ])("counts %s as %s", (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});

import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { localeCodes, spokenLanguages } from "./locale.ts";
import { locales } from "./locales.ts";
import { cannedKeys, voiceTextKeys, widgetTextKeys } from "./text-keys.ts";

/** The keys of a locale and of its groups; those of texts and numbers are checked by themselves. */
function keysOf(value: object): unknown {
  return Object.entries(value).map(([key, inner]) =>
    ["bot", "widget", "voice", "numbers"].includes(key) ||
    typeof inner !== "object" ||
    inner === null ||
    Array.isArray(inner)
      ? key
      : [key, Object.keys(inner as object)],
  );
}

describe("locales", () => {
  it("have a file each", () => {
    const files = readdirSync(new URL("locales/", import.meta.url)).map((name) => name.replace(/\.ts$/u, ""));
    expect(files.toSorted()).toEqual([...localeCodes].toSorted());
    expect(Object.keys(locales)).toEqual(localeCodes);
  });

  it.each(localeCodes)("have every key in %s", (code) => {
    expect(keysOf(locales[code])).toEqual(keysOf(locales.en));
  });

  it.each(localeCodes)("have every text or none, and no text is empty, in %s", (code) => {
    const { bot, widget, voice } = locales[code];
    for (const [texts, keys] of [
      [bot, cannedKeys],
      [widget, widgetTextKeys],
      [voice, voiceTextKeys],
    ] as const) {
      if (texts === null) continue;
      expect(Object.keys(texts)).toEqual(keys);
      expect(Object.values(texts).filter((text) => text.trim() === "")).toEqual([]);
    }
    expect(bot !== null).toBe((spokenLanguages as readonly string[]).includes(code));
  });

  it.each(spokenLanguages)("recognise a wish for a person in %s", (code) => {
    const { talk, unspaced } = locales[code].handover;
    expect(`${talk}${unspaced}`).not.toBe("");
  });

  it("keep the placeholders of every text", () => {
    const placeholders = (text: string): readonly string[] =>
      [...text.matchAll(/\{\w+\}/gu)].map(([name]) => name).toSorted();
    for (const code of localeCodes) {
      for (const group of ["bot", "widget", "voice"] as const) {
        const texts: Readonly<Record<string, string>> | null = locales[code][group];
        const english: Readonly<Record<string, string>> = locales.en[group] ?? {};
        for (const [key, text] of Object.entries(texts ?? {})) {
          expect(placeholders(text), `${code} ${group}.${key}`).toEqual(placeholders(english[key] ?? ""));
        }
      }
    }
  });
});

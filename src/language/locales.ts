import { ar } from "./locales/ar.ts";
import { da } from "./locales/da.ts";
import { de } from "./locales/de.ts";
import { en } from "./locales/en.ts";
import { es } from "./locales/es.ts";
import { fa } from "./locales/fa.ts";
import { fi } from "./locales/fi.ts";
import { fr } from "./locales/fr.ts";
import { he } from "./locales/he.ts";
import { it } from "./locales/it.ts";
import { ja } from "./locales/ja.ts";
import { ko } from "./locales/ko.ts";
import { nb } from "./locales/nb.ts";
import { nl } from "./locales/nl.ts";
import { pl } from "./locales/pl.ts";
import { pt } from "./locales/pt.ts";
import { ru } from "./locales/ru.ts";
import { sv } from "./locales/sv.ts";
import { tr } from "./locales/tr.ts";
import { ur } from "./locales/ur.ts";
import { zh } from "./locales/zh.ts";
import type { Locale, LocaleCode } from "./locale.ts";

/** Every language that Parley speaks or recognises. */
export const locales: Readonly<Record<LocaleCode, Locale>> = {
  en,
  de,
  fr,
  es,
  it,
  pt,
  nl,
  sv,
  da,
  nb,
  fi,
  ru,
  ja,
  zh,
  ko,
  ar,
  he,
  fa,
  ur,
  tr,
  pl,
};

const all = Object.values(locales);

/** The words of a list, in every language. Repeated words are kept once. */
export function wordsOfAllLocales(list: (locale: Locale) => string): readonly string[] {
  return [...new Set(all.flatMap((locale) => list(locale).split(/\s+/)))].filter((word) => word !== "");
}

/** The phrases of a list, in every language, as alternatives of a regular expression. */
export function phrasesOfAllLocales(list: (locale: Locale) => string): string {
  return [...new Set(all.map(list))].filter((phrases) => phrases !== "").join("|");
}

/** The locale of a tag such as `de-AT`; undefined where there is none. */
export function localeOf(tag: string): Locale | undefined {
  const language = tag.split("-", 1)[0]?.toLowerCase() ?? "";
  return Object.hasOwn(locales, language) ? locales[language as LocaleCode] : undefined;
}

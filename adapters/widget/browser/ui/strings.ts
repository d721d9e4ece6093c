import type { WidgetTextKey } from "#language/text-keys.ts";
import { widgetTexts } from "#language/locales/en.ts";

/** Every text of the widget. `{name}` and `{count}` are filled in. */
export type Strings = Readonly<Record<WidgetTextKey, string>>;

const keys = Object.keys(widgetTexts) as readonly WidgetTextKey[];

/** Languages that have texts. All but English are fetched from the server. */
export const languages: readonly string[] = [
  "en",
  "de",
  "fr",
  "es",
  "it",
  "pt",
  "nl",
  "ja",
  "tr",
  "ar",
  "he",
  "fa",
  "ur",
];

/** The first of the wanted languages that has texts. */
export const languageOf = (wanted: readonly string[]): string =>
  wanted.find((lang) => languages.includes(primary(lang))) ?? "en";

/** Also for languages without texts. */
export const isRightToLeft = (lang: string): boolean =>
  /^(?:ar|fa|he|iw|ur|ps|yi|ji|dv|ckb|sd|ug)$/u.test(primary(lang));

const primary = (lang: string): string => lang.toLowerCase().split(/[-_]/u)[0] ?? "";

const fetchTimeoutMs = 3_000;

/** The texts of a language tag (`de-AT` is `de`), or English. The page's `own` texts replace both. */
export async function stringsFor(
  lang: string,
  own: Readonly<Partial<Record<string, string>>>,
  base: URL,
): Promise<Strings> {
  const language = primary(lang);
  const isKnown = language !== "en" && languages.includes(language);
  const translated = isKnown ? await fetched(new URL(`widget/texts/${language}.json`, base)) : {};
  const strings = { ...widgetTexts } as Record<WidgetTextKey, string>;
  // A server of another version may have other keys.
  for (const key of keys) strings[key] = own[key] ?? translated[key] ?? widgetTexts[key];
  return strings;
}

async function fetched(url: URL): Promise<Partial<Strings>> {
  try {
    const response = await fetch(url, { credentials: "omit", signal: AbortSignal.timeout(fetchTimeoutMs) });
    if (response.ok) return (await response.json()) as Partial<Strings>;
  } catch {
    // Reported below.
  }
  console.error(`[parley] ${url.href} could not be loaded; the texts are English.`);
  return {};
}

export function fill(text: string, value: string | number): string {
  // Isolated, because a Latin name would change the order of the words around it.
  const isolated = /[\u0590-\u08ff]/u.test(text) && typeof value === "string" ? `\u2068${value}\u2069` : String(value);
  return text.replace(/\{(?:name|count)\}/u, () => isolated);
}

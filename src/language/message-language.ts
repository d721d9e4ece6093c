import { guessLanguages } from "./detection.ts";
import { pl } from "./locales/pl.ts";
import { wordLanguages } from "./words/word-languages.ts";
import { wordsOf } from "./words/tokens.ts";

/** Languages that a rule can ask for. */
export const languages = [...wordLanguages, "pl", "ja", "zh", "ko", "el"] as const;
export type Language = (typeof languages)[number];

const scripts: readonly (readonly [RegExp, Language])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, "ja"],
  [/\p{Script=Hangul}/u, "ko"],
  [/\p{Script=Han}/u, "zh"],
  [/\p{Script=Cyrillic}/u, "ru"],
  [/\p{Script=Arabic}/u, "ar"],
  [/\p{Script=Greek}/u, "el"],
];
const polish = new Set(pl.stopWords.split(/\s+/));
/** Polish has no package of stop words. Several of its own decide. */
const polishWordsMin = 2;

/** The most likely language of a message; null where its words fit none, or several equally. */
export function languageOf(text: string): Language | null {
  const sample = text.slice(0, 2_000);
  const script = scripts.find(([pattern]) => pattern.test(sample));
  if (script !== undefined) return script[1];
  const { languages: likely, sure } = guessLanguages(sample);
  if (sure) return likely[0] ?? null;
  const words = new Set(wordsOf(sample));
  if ([...words].filter((word) => polish.has(word)).length >= polishWordsMin) return "pl";
  return likely[0] ?? null;
}

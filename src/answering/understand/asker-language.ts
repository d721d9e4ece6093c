import { cannedText } from "#language/bot-texts/bot-texts.ts";
import type { CannedKey, SpokenLanguage } from "#language/bot-texts/languages.ts";
import type { Question } from "#answering/contract.ts";
import { guessLanguages } from "#language/detection.ts";
import { courtesyIn } from "#answering/classify/courtesies.ts";

/** In which language somebody writes, by what they wrote last, and before where that does not tell. */
export function spokenLanguage(newestFirst: readonly string[]): SpokenLanguage {
  for (const text of newestFirst) {
    const language = languageIn(text);
    if (language !== undefined) return language;
  }
  return "en";
}

function languageIn(text: string): SpokenLanguage | undefined {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  if (/\p{Script=Hangul}/u.test(text)) return "ko";
  // A name of a product in a sentence of another language is shorter.
  if (
    /\p{Script=Han}/u.test(text) &&
    (text.match(/\p{Script=Han}/gu) ?? []).length * 2 >= (text.match(/\p{L}/gu) ?? []).length
  )
    return "zh";
  const courtesy = courtesyIn(text);
  if (courtesy !== undefined) return courtesy.language;
  const { languages, sure, weak } = guessLanguages(text);
  if (sure) return languages[0];
  return weak || languages.includes("en") ? undefined : languages[0];
}

/** In which language a question is, where it tells so by itself. */
export function languageToldBy({ text }: Pick<Question, "text">): SpokenLanguage | undefined {
  return languageIn(text);
}

/** In which language somebody writes who asks this. */
export function languageOfAsker({ text, history }: Pick<Question, "text" | "history">): SpokenLanguage {
  const before = history.filter(({ role }) => role === "user").map(({ content }) => content);
  return spokenLanguage([text, ...before.toReversed()]);
}

/** What the bot says by itself, in the language that the customer writes. */
export function saidTo(question: Pick<Question, "settings" | "text" | "history">, key: CannedKey): string {
  return cannedText(question.settings, languageOfAsker(question), key);
}

import { cannedText } from "#language/canned-texts.ts";
import type { SpokenLanguage } from "#language/locale.ts";
import type { CannedKey } from "#language/text-keys.ts";
import type { Question } from "#answering/contract.ts";
import { guessLanguages } from "#language/detection.ts";
import { courtesyIn } from "#answering/classify/courtesies.ts";

/** The language of the newest message that has a recognisable one. English when none has. */
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
  if (isMostly(text, /\p{Script=Han}/gu)) return "zh";
  const courtesy = courtesyIn(text);
  if (courtesy !== undefined) return courtesy.language;
  if (isMostly(text, /\p{Script=Hebrew}/gu)) return "he";
  if (isMostly(text, /\p{Script=Arabic}/gu)) return inArabicLetters(text);
  const { languages, sure, weak } = guessLanguages(text);
  if (sure) return languages[0];
  return weak || languages.includes("en") ? undefined : languages[0];
}

/** A shorter share may be a product name in another language. */
function isMostly(text: string, letters: RegExp): boolean {
  const count = text.match(letters)?.length ?? 0;
  return count > 0 && count * 2 >= (text.match(/\p{L}/gu) ?? []).length;
}

/** Urdu and Persian have letters that Arabic lacks, and Urdu some that Persian lacks. */
function inArabicLetters(text: string): SpokenLanguage {
  if (/[ٹڈڑںےہھ]/u.test(text)) return "ur";
  return /[پچژگکی]/u.test(text) ? "fa" : "ar";
}

/** The language of a question by its own text. Undefined when it cannot be recognised. */
export function languageOfText({ text }: Pick<Question, "text">): SpokenLanguage | undefined {
  return languageIn(text);
}

type AskerQuestion = Pick<Question, "text" | "history" | "language">;

/** The language of the asker: as the question names it, else by its text, then by the earlier messages. */
export function languageOfAsker({ text, history, language }: AskerQuestion): SpokenLanguage {
  if (language !== undefined) return language;
  const before = history.filter(({ role }) => role === "user").map(({ content }) => content);
  return spokenLanguage([text, ...before.toReversed()]);
}

/** A canned text in the language of the asker. */
export function cannedTextFor(question: AskerQuestion & Pick<Question, "settings">, key: CannedKey): string {
  return cannedText(question.settings, languageOfAsker(question), key);
}

import { withoutDenial } from "#answering/classify/denial.ts";
import { locales } from "#language/locales.ts";
import { runsOf } from "#language/words/runs.ts";

/** Phrases around a question that ask for nothing. Greetings and thanks are stop words already. */
const phrases = Object.values(locales).flatMap(({ questions }) => questions.preambles);
const preamble = new RegExp(`(?<![\\p{L}\\p{N}])(?:${phrases.join("|")})(?![\\p{L}\\p{N}])`, "giu");
const textMax = 2_000;

/** Removes such phrases and denials. Returns the text without denials when nothing else would be left. */
export function stripPreamble(text: string): string {
  if (text.length > textMax) return text;
  const wanted = withoutDenial(text);
  const rest = wanted.replaceAll(preamble, " ");
  return runsOf(rest).length === 0 ? wanted : rest;
}

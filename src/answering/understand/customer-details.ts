import type { WordLanguage } from "#language/detection.ts";
import type { References } from "#language/locale.ts";
import { localeCodes } from "#language/locale.ts";
import { locales } from "#language/locales.ts";
import { termsOf } from "#language/words/terms.ts";

const unspacedLocales: readonly string[] = ["ja", "zh", "ko"];
const phrases = (list: keyof References, isUnspaced: boolean): string =>
  localeCodes
    .filter((code) => unspacedLocales.includes(code) === isUnspaced)
    .map((code) => locales[code].references[list])
    .filter((each) => each !== "")
    .join("|");
const inAll = (list: keyof References): string => `${phrases(list, false)}|${phrases(list, true)}`;

/** Things that have a reference number. Word endings are left open. */
const things = phrases("things", false);
const unspacedThings = phrases("things", true);
const number = inAll("numbers");
const owned = phrases("owned", false);
const being = `${inAll("being")}|:`;
/** Excludes scripts without spaces, where the next word follows directly. */
const sign = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{N}/_-]`;
const named = `(?:(?<![\\p{L}])(?:${things})\\p{L}{0,12}|${unspacedThings})`;

/**
 * Matches personal details next to a question: addresses, phone numbers, order numbers. Numbers that can be the subject of
 * a question, such as error codes and part numbers, must not match.
 */
const patterns: readonly RegExp[] = [
  /\b(?:https?:\/\/|www\.)[^\s<>"]+/giu,
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu,
  // A reference number after its label. The label is not part of the match.
  new RegExp(
    `(?<=${named}(?: ?(?:${number}))?(?: (?:${owned}))?(?: ?(?:${being}))?[.:#：]{0,3} ?[#(]?)(?=${sign}*\\d)(?!-)${sign}{4,}`,
    "giu",
  ),
  // Seven digits and more, in groups.
  /(?<![\p{L}\p{N}])(?:\+|00)?\(?\d(?:[ ()/.-]{0,2}\d){6,}(?![\p{L}\p{N}])/gu,
];

/** Cheap test before the expensive patterns: every detail has one of these. */
const mayHold = /[\d@]|:\/\/|www\./i;

const mark = "\uE000";
const mine = phrases("mine", false);
/** Matches the label before a detail: "My order number is …". */
const labelPattern = new RegExp(
  `(?<![\\p{L}])(?:(?:${mine}) (?:[\\p{L}'’-]+ ){1,4}(?:is|ist|lautet|est|es|è|é|är|er|on) +|(?:${things})\\p{L}{0,12} (?:mitt|mit|min|on|er|är) (?:er |är )?)(?=${mark})`,
  "giu",
);

/** The terms of each detail in a text, without terms that also occur outside of the details. */
export function detailsIn(text: string, language: WordLanguage = "en"): readonly (readonly string[])[] {
  if (!mayHold.test(text)) return [];
  const details: string[] = [];
  let rest = text.replaceAll(mark, " ");
  for (const pattern of patterns) {
    rest = rest.replaceAll(pattern, (detail) => {
      details.push(detail);
      return mark;
    });
  }
  if (details.length === 0) return [];
  const labels = rest.match(labelPattern) ?? [];
  const outside = new Set(termsOf(rest.replaceAll(labelPattern, " ").replaceAll(mark, " "), language));
  // Details without other words are the question.
  if (outside.size === 0) return [];
  const own = (part: string): string[] => termsOf(part, language).filter((term) => !outside.has(term));
  // Labels belong to the details, not to the question.
  const [first = "", ...others] = details;
  return [own([first, ...labels].join(" ")), ...others.map(own)];
}

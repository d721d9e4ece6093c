import { fold } from "#language/words/runs.ts";
import type { FollowUp } from "#language/locale.ts";
import { locales } from "#language/locales.ts";
import type { OtherLanguage, WordLanguage } from "#language/words/word-languages.ts";
import { isSoft, wordsOf } from "#language/words/terms.ts";

/** Longer messages are never follow-ups. */
const followUpWordsMax = 12;
const termsMax = 3;

const { followUp: english } = locales.en;
const pointing = new RegExp(String.raw`(?:^|\s)(?:${english.pointing})(?=\s|$)`, "u");
const continuing = new RegExp(String.raw`^(?:${english.continuing})(?=\s|$)`, "u");
/** Can begin both kinds: "How long does delivery take?" is complete, "How long in all?" is a follow-up. */
const measured = /^(?:which|how long|how much|how many|when|where)(?=\s|$)/u;

/** Matches words that ask for a measure. "Long" and "take" of "How long does it take" must not become search terms. */
const measuring =
  /\bhow (?:long|much|many|old|big|large|far|often|high|fast|soon|quickly)\b(?:\s+(?:time|does|do|will|would|is|it|the|a)\b)*/giu;
const taking = /\btak(?:es?|ing)\b/giu;

interface Patterns {
  readonly continuing: RegExp;
  readonly pointing: RegExp;
  readonly final: RegExp;
  /** Matches the words without content: the opening, the pronouns and the measuring words. */
  readonly empty: RegExp;
}

const patternsOf = ({ continuing: begins, pointing: points, final, measuring: measures }: FollowUp): Patterns => ({
  continuing: new RegExp(`^(?:${plainly(begins)})(?=\\s|$)`, "u"),
  pointing: new RegExp(`(?:^|\\s)(?:${plainly(points)})(?=\\s|$)`, "u"),
  final: new RegExp(`(?:^|\\s)(?:${plainly(final)})$`, "u"),
  empty: new RegExp(
    `^[^\\p{L}]*(?:${typed(begins)})(?![\\p{L}\\p{N}])|(?<![\\p{L}\\p{N}])(?:${typed(points)}|${typed(measures)})(?![\\p{L}\\p{N}])`,
    "giu",
  ),
});

/** Alternatives with and without accents. */
const typed = (phrases: string): string => [...new Set([phrases, fold(phrases)])].join("|");

/** Normalizes phrases as {@link wordsOf} does. */
const plainly = (phrases: string): string =>
  phrases
    .split("|")
    .map((phrase) => fold(phrase).replaceAll("'", ""))
    .join("|");

const patterns = new Map<OtherLanguage, Patterns>();
function patternsIn(language: OtherLanguage): Patterns {
  const cached = patterns.get(language);
  if (cached !== undefined) return cached;
  const made = patternsOf(locales[language].followUp);
  patterns.set(language, made);
  return made;
}

/** Scripts without spaces: their phrases match the text itself. */
const unspaced = [locales.ja, locales.zh, locales.ko].map(({ followUp }) => followUp);
const continuingUnspaced = new RegExp(String.raw`^\s*(?:${unspaced.map((each) => each.continuing).join("|")})`, "u");
const measuringUnspaced = new RegExp(unspaced.map((each) => each.measuring).join("|"), "gu");

/** Removes the measuring words ("how long") from a question. */
export function withoutMeasure(text: string, language: WordLanguage): string {
  if (language !== "en") return text.replaceAll(patternsIn(language).empty, " ");
  const asking = text.replaceAll(measuring, " ");
  const rest = asking === text ? text : asking.replaceAll(taking, " ");
  return rest.replace(continuingUnspaced, " ").replaceAll(measuringUnspaced, " ");
}

/**
 * Whether a question is a follow-up: it has no subject of its own, or refers to one by a pronoun. `own` holds the stems
 * of its content words.
 */
export function isFollowUp(text: string, own: readonly string[], language: WordLanguage): boolean {
  const words = wordsOf(text);
  if (words.length > followUpWordsMax) return false;
  if (own.length === 0) return true;
  const joined = words.join(" ");
  if (language !== "en") {
    const { continuing: begins, pointing: points, final } = patternsIn(language);
    return (
      own.length <= termsMax &&
      (points.test(joined) ||
        final.test(joined) ||
        (own.length === 1 && begins.test(joined)) ||
        asksAboutAnother(text, own, language))
    );
  }
  return (
    (own.length <= termsMax && (pointing.test(joined) || continuingUnspaced.test(text))) ||
    (own.length === 1 && (continuing.test(joined) || (measured.test(joined) && own.every(isSoft)))) ||
    asksAboutAnother(text, own, language)
  );
}

const another =
  /^(?:and|or|what about|how about|and what about)(?: (?:for|with|in|on|the|a|an|my|our))* (?!(?:is|are|do|does|did|can|could|will|would|should|how|what|when|where|why|who|which|if)(?=\s|$))/u;
const anotherTermsMax = 2;
const anotherWordsMax = 6;

/** True for "And Word files?", which repeats the previous question for another thing. */
export function asksAboutAnother(text: string, own: readonly string[], language: WordLanguage): boolean {
  const words = wordsOf(text);
  if (own.length === 0 || own.length > anotherTermsMax || words.length > anotherWordsMax) return false;
  const joined = words.join(" ");
  return language === "en"
    ? another.test(joined)
    : own.length + 1 >= words.length - 1 && patternsIn(language).continuing.test(joined);
}

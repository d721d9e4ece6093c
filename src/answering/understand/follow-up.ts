import { fold } from "#language/english.ts";
import type { FollowUp, OtherLanguage, WordLanguage } from "#language/language-facts.ts";
import { languageFacts } from "#language/language-facts.ts";
import { isSoft, wordsOf } from "#language/terms.ts";

/** A longer message is a question of its own. */
const followUpWordsMax = 12;
const termsMax = 3;

const pointing = /(?:^|\s)(?:it|its|that|this|they|them|their|those|these|one|ones|there|he|she|his|her|same)(?=\s|$)/u;
const continuing = /^(?:and|but|or|so|also|what about|how about|what if|why)(?=\s|$)/u;
/** Begins a question of its own as well: "How long does delivery take?" is whole, "How long in all?" is not. */
const measured = /^(?:which|how long|how much|how many|when|where)(?=\s|$)/u;

/** "How long does it take" asks for a time; that it says "long" and "take" is no reason to look for these words. */
const measuring =
  /\bhow (?:long|much|many|old|big|large|far|often|high|fast|soon|quickly)\b(?:\s+(?:time|does|do|will|would|is|it|the|a)\b)*/giu;
const taking = /\btak(?:es?|ing)\b/giu;

interface Patterns {
  readonly continuing: RegExp;
  readonly pointing: RegExp;
  readonly final: RegExp;
  /** What says nothing of what is asked: the beginning, what points back, what only asks how much. */
  readonly empty: RegExp;
}

const patternsOf = ({ continuing: begins, pointing: points, final, measuring: measures }: FollowUp): Patterns => ({
  continuing: new RegExp(`^(?:${plainly(begins)})(?=\\s|$)`, "u"),
  pointing: new RegExp(`(?:^|\\s)(?:${plainly(points)})(?=\\s|$)`, "u"),
  final: new RegExp(`(?:^|\\s)(?:${plainly(final)})$`, "u"),
  empty: new RegExp(
    `^[^\\p{L}]*(?:${typed(begins)})(?![\\p{L}\\p{N}])|(?<![\\p{L}\\p{N}])(?:${typed(points)}|${typed(measures.replaceAll(" ", "|"))})(?![\\p{L}\\p{N}])`,
    "giu",
  ),
});

/** With the accents, and as many type it. */
const typed = (phrases: string): string => [...new Set([phrases, fold(phrases)])].join("|");

/** As {@link wordsOf} writes the words. */
const plainly = (phrases: string): string =>
  phrases
    .split("|")
    .map((phrase) => fold(phrase).replaceAll("'", ""))
    .join("|");

const patterns = new Map<OtherLanguage, Patterns>();
function patternsIn(language: OtherLanguage): Patterns {
  const known = patterns.get(language);
  if (known !== undefined) return known;
  const made = patternsOf(languageFacts[language].followUp);
  patterns.set(language, made);
  return made;
}

/** Scripts that put no spaces between words have no language of their own here: the text itself is looked at. */
const continuingUnspaced = /^\s*(?:それ|その|これ|では|じゃあ|ちなみに|那么?|它|这个|那个|还有|그럼|그건|그거|그리고)/u;
const measuringUnspaced =
  /どのくらい|どれくらい|かかりますか|かかります|かかる|時間|多久|多长时间|多少钱|费用|时间|얼마나|걸려요|걸리나요|걸립니까/gu;

/** The question without the words that only ask how much there is of what it is about. */
export function withoutMeasure(text: string, language: WordLanguage): string {
  if (language !== "en") return text.replaceAll(patternsIn(language).empty, " ");
  const asking = text.replaceAll(measuring, " ");
  const rest = asking === text ? text : asking.replaceAll(taking, " ");
  return rest.replace(continuingUnspaced, " ").replaceAll(measuringUnspaced, " ");
}

/**
 * Whether a question leans on the one before it: it has no subject of its own, or speaks of one as "it". `own`: the
 * stems of its content words.
 */
export function leansOnBefore(text: string, own: readonly string[], language: WordLanguage): boolean {
  const words = wordsOf(text);
  if (words.length > followUpWordsMax) return false;
  if (own.length === 0) return true;
  const joined = words.join(" ");
  if (language !== "en") {
    const known = patternsIn(language);
    return (
      own.length <= termsMax &&
      (known.pointing.test(joined) ||
        known.final.test(joined) ||
        (own.length === 1 && known.continuing.test(joined)) ||
        putsAnother(text, own, language))
    );
  }
  return (
    (own.length <= termsMax && (pointing.test(joined) || continuingUnspaced.test(text))) ||
    (own.length === 1 && (continuing.test(joined) || (measured.test(joined) && own.every(isSoft)))) ||
    putsAnother(text, own, language)
  );
}

const another =
  /^(?:and|or|what about|how about|and what about)(?: (?:for|with|in|on|the|a|an|my|our))* (?!(?:is|are|do|does|did|can|could|will|would|should|how|what|when|where|why|who|which|if)(?=\s|$))/u;
const anotherTermsMax = 2;
const anotherWordsMax = 6;

/** "And Word files?": the same is asked of another thing. */
export function putsAnother(text: string, own: readonly string[], language: WordLanguage): boolean {
  const words = wordsOf(text);
  if (own.length === 0 || own.length > anotherTermsMax || words.length > anotherWordsMax) return false;
  const joined = words.join(" ");
  return language === "en"
    ? another.test(joined)
    : own.length + 1 >= words.length - 1 && patternsIn(language).continuing.test(joined);
}

import { englishStopWords } from "./words/english.ts";
import { fold } from "./words/runs.ts";
import { locales } from "./locales.ts";
import type { WordLanguage } from "./words/word-languages.ts";
import { wordLanguages, wordPackages } from "./words/word-languages.ts";

export { wordLanguages } from "./words/word-languages.ts";
export type { WordLanguage } from "./words/word-languages.ts";

const split = (words: string): string[] => words.split(/\s+/).filter((word) => word !== "");

/** Stop words of the packages that customers ask about. */
const asked = new Set(
  split(
    "cuenta cuentas tiempo trabajo horas dias días nuevo nueva nuevos nuevas uso usar país nulla رجع زيارة سنة سنوات عدد اعادة الوقت",
  ),
);

function stopsOf(language: WordLanguage): ReadonlySet<string> {
  if (language === "en") return englishStopWords;
  const words = [...wordPackages[language].stopWords, ...split(locales[language].stopWords)].filter(
    (word) => !asked.has(word),
  );
  return new Set(words.map((word) => plain(language, word)));
}

/** Normalizes a word: lower case, no accents, and one spelling of German umlauts. */
export function plain(language: WordLanguage, word: string): string {
  return language === "de" ? plainGerman(fold(word)) : plainOther(fold(word));
}

const plainGerman = (folded: string): string => folded.replaceAll("ß", "ss").replaceAll(/([aou])e/g, "$1");
const plainOther = (folded: string): string =>
  /[øæœß]/.test(folded)
    ? folded.replaceAll("ø", "o").replaceAll("æ", "ae").replaceAll("œ", "oe").replaceAll("ß", "ss")
    : folded;

const stops = new Map<WordLanguage, ReadonlySet<string>>(
  wordLanguages.map((language) => [language, stopsOf(language)] as const),
);

/** All of them. */
export function stopWordsOf(language: WordLanguage): ReadonlySet<string> {
  return stops.get(language) ?? englishStopWords;
}

/** Stop words, normalized by {@link plain}. */
export function isStopWord(language: WordLanguage, word: string): boolean {
  return stops.get(language)?.has(word) === true;
}

const german = wordLanguages.indexOf("de");
const turkish = wordLanguages.indexOf("tr");
/** Stop words of Turkish that are words or names in languages whose stop words lack them. */
const foreign: ReadonlySet<string> = new Set(["size", "sure", "kim", "bin", "gun", "bana", "o", "son", "on"]);
/** Indexes of the languages other than German that have a stop word. */
const placesOfStop = new Map<string, number[]>();
for (const [place, language] of wordLanguages.entries()) {
  if (place === german) continue;
  for (const word of stopWordsOf(language)) {
    const places = placesOfStop.get(word) ?? [];
    // Words such as "en" and "size" are no evidence for Turkish.
    const isSign = place !== turkish || (places.length === 0 && !foreign.has(word));
    if (isSign) placesOfStop.set(word, [...places, place]);
  }
}

/** The places of the languages that have this as a stop word. */
function stoppedBy(word: string): readonly number[] {
  const folded = fold(word);
  const places = placesOfStop.get(plainOther(folded)) ?? [];
  return isStopWord("de", plainGerman(folded)) ? [...places, german] : places;
}

const signCount = 0.9;
/** Weights of a stop word and of a character that is specific to a language. */
const sureFrom = 1 + signCount;
const wordsReadMax = 400;
/** Minimum share of stop words in prose; usual prose has a third. */
const proseShare = 0.12;
const proseWordsMin = 25;

/** Letters that Arabic lacks. */
const persianOrUrdu = /[پچژگکیٹڈڑںےہھ]/u;

/** Other languages have most of these letters. Articles, the feminine ending and stop words are Arabic's own. */
const isArabic = (text: string): boolean =>
  !persianOrUrdu.test(text) &&
  (/ة|(?<!\p{L})(?:ال|لل|وال|بال)\p{L}/u.test(text) ||
    (text.match(/[\p{L}\p{M}]+/gu) ?? []).some((word) => isStopWord("ar", plain("ar", word))));

export interface Guess {
  /** The likely languages, the likeliest first. */
  readonly languages: readonly WordLanguage[];
  /** True when the first language is far more likely than all others. */
  readonly sure: boolean;
  /** True when the evidence is too weak to exclude other languages. */
  readonly weak: boolean;
}

/**
 * Detects the languages of a text by its stop words and letters. The result is not sure for short texts without either.
 */
export function guessLanguages(text: string): Guess {
  const read = text.slice(0, 8_000);
  const lower = read.toLowerCase();
  if (/\p{Script=Cyrillic}/u.test(lower) && !/[a-z]{4}/.test(lower))
    return { languages: ["ru"], sure: true, weak: false };
  if (/\p{Script=Arabic}/u.test(lower) && !/[a-z]{4}/.test(lower)) {
    return isArabic(lower)
      ? { languages: ["ar"], sure: true, weak: false }
      : { languages: [], sure: false, weak: true };
  }
  // Skip acronyms: "AI" is not French.
  const plainly = /\p{Ll}/u.test(read) ? read.replaceAll(/(?<![\p{L}\p{M}])\p{Lu}{2,}(?![\p{L}\p{M}])/gu, " ") : read;
  // Skip single letters, which are often part of a code or an option such as -y.
  const words = (
    plainly.toLowerCase().match(/[\p{L}\p{M}]{2,}|(?<![\p{L}\p{N}.*/_-])[yàéèå](?![\p{L}\p{N}.*/_-])/gu) ?? []
  ).slice(0, wordsReadMax);
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const different = wordLanguages.map(() => 0);
  const all = wordLanguages.map(() => 0);
  for (const [word, count] of counts) {
    for (const place of stoppedBy(word)) {
      // Count each word once: repetitions prove nothing.
      different[place] = (different[place] ?? 0) + 1;
      all[place] = (all[place] ?? 0) + count;
    }
  }
  const scores = wordLanguages.map((language, place) => {
    const signs = locales[language].spelling.signs?.test(lower) === true;
    return { language, score: (different[place] ?? 0) + (signs ? signCount : 0), prose: all[place] ?? 0 };
  });
  const sorted = scores.toSorted((left, right) => right.score - left.score);
  const [best, second] = sorted;
  if (best === undefined || second === undefined || best.score === 0) return { languages: [], sure: false, weak: true };
  const likely = sorted.filter(({ score }) => score > 0 && score >= best.score * 0.6).map(({ language }) => language);
  const lead = best.score - second.score;
  const sure =
    (lead >= 2 || (lead >= 1 && best.score >= sureFrom && words.length <= 12)) &&
    // Tables and code contain words of every language.
    (words.length < proseWordsMin || best.prose >= words.length * proseShare);
  return { languages: likely, sure, weak: !sure && best.score < 2 };
}

/** The language of a document. English when it cannot be detected. */
export function languageOf(text: string): WordLanguage {
  const { languages, sure } = guessLanguages(text);
  const [first = "en"] = languages;
  return sure || !languages.includes("en") ? first : "en";
}

import { synonymOf } from "#language/words/synonyms.ts";
import type { Clauses } from "#language/locale.ts";
import { wordsOfAllLocales } from "#language/locales.ts";
import { fold } from "#language/words/runs.ts";
import { isSoft, stem, termsOf, wordsOf } from "#language/words/terms.ts";
import type { Quantity } from "./hard-facts.ts";
import { hardFactsOf, plain } from "./hard-facts.ts";
import { denials, functionWords, numberWords, openers, unitOf } from "./word-lists.ts";

/** A part of a sentence with one statement. */
export interface Clause {
  /** The folded text, without markup. */
  readonly words: string;
  /** Stems of the content words, with synonyms merged. */
  readonly terms: ReadonlySet<string>;
  /** `terms` with those of the previous clause, when this one refers to it ("abroad it takes eight"). */
  readonly within: ReadonlySet<string>;
  /** `within` with those of the previous sentence, when this one refers to it. */
  readonly reach: ReadonlySet<string>;
  readonly quantities: readonly Quantity[];
  readonly names: readonly string[];
  readonly denies: boolean;
}

/** Idioms that look like a negation. */
const noDenial =
  /\bnot only\b|\bno (?:later|more|less|fewer|longer) than\b|\bno matter\b|\bnot just\b|\bwhether or not\b|\bno\. ?(?=\d)|\bnicht nur\b|\bnon seulement\b|\bno solo\b/giu;
/** "ne" and "pas" negate only together. */
const frenchDenial = /(?<!\p{L})n(?:e\s|['’])\s?\S+(?:\s\S+)?\s(?:pas|jamais|rien|plus|aucune?)(?!\p{L})/u;
const unspacedDenial = /[不没無未]|ません|ない/u;

const inAll = (list: keyof Clauses): string => wordsOfAllLocales(({ clauses }) => clauses[list]).join("|");
const hardCut = new RegExp(
  String.raw`;\s*|\s[–—]\s|,?\s+(?=(?:${inAll("contrasts")})\s)|,?\s+(?=(?:and neither|and nor|nor|neither|and not|und nicht)\s)|[；。]`,
  "giu",
);
const conjunctions = inAll("conjunctions");
const softCut = new RegExp(String.raw`,\s+(?:(?:${conjunctions})\s)?|:\s+|[、，]|\s(?:${conjunctions})\s`, "giu");
const leaning = new RegExp(String.raw`^(?:${inAll("leaning")}|abroad it)\b|\b(?:${inAll("pronouns")})\b`, "iu");
/** A clause with at most this many content words depends on the previous one. */
const fewTerms = 1;

/** Content words, normalized for comparison. */
export function contentTerms(text: string): string[] {
  return stemsOf(text).map((term) => synonymOf(term));
}

/** Content words without soft terms and units, which do not identify a subject. */
export function informativeTerms(text: string): string[] {
  return stemsOf(text)
    .filter((term) => !isSoft(term) && !unitStems.has(term))
    .map((term) => synonymOf(term));
}

const unitStems = new Set([...unitOf.keys()].map((word) => stem(word)));

function stemsOf(text: string): string[] {
  return termsOf(withoutFunctionWords(text)).filter((term) => !/^\d/u.test(term) && !numberWords.has(term));
}

function withoutFunctionWords(text: string): string {
  return wordsOf(text)
    .filter((word) => !functionWords.has(word) || englishContent.has(word))
    .join(" ");
}

/** Function words of other languages that are content words in English. */
const englishContent = new Set(["die", "man", "per", "sur", "son", "con", "sera", "est", "plus", "chez"]);

/** Folded capitalised words: names, and in German all nouns. Adjacent ones are joined. */
export function namesOf(text: string): string[] {
  const names: string[] = [];
  let end = -2;
  for (const { 0: word, index } of text.matchAll(/(?<![\p{L}\p{N}@./])\p{Lu}[\p{L}\p{M}’'-]*/gu)) {
    // "They'll" and "Don't" begin sentences.
    const key = fold(word).replace(/['’](?:s|ll|re|ve|d|m)$|-$/u, "");
    if (/n['’]t$/u.test(key)) continue;
    if (key.length < 2 || openers.has(key) || numberWords.has(key) || unitOf.has(key) || isFunctionWord(key)) continue;
    const last = names.at(-1);
    if (last !== undefined && text.slice(end, index) === " ") names[names.length - 1] = `${last} ${key}`;
    else names.push(key);
    end = index + word.length;
  }
  return names;
}

export function isFunctionWord(word: string): boolean {
  return functionWords.has(word) || termsOf(word).length === 0;
}

export function deniesIn(text: string): boolean {
  const said = text.replaceAll(noDenial, " ");
  return wordsOf(said).some((word) => denials.has(word)) || frenchDenial.test(fold(said)) || unspacedDenial.test(said);
}

/** Splits a sentence into clauses: at every "but", and at commas with a fact on both sides. */
export function cutClauses(sentence: string): string[] {
  return splitAt(sentence.replaceAll(/\s+/gu, " "), hardCut).flatMap((part) => softSplit(part));
}

function splitAt(text: string, pattern: RegExp): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** True when the text has a fact: a number, or a name with a statement. */
function isClause(text: string): boolean {
  return hardFactsOf(text).quantities.length > 0 || (namesOf(text).length > 0 && contentTerms(text).length >= 2);
}

/** How many characters around a comma are searched for facts. Bounds the time for long lists. */
const besideMax = 600;

function softSplit(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(softCut)) {
    const end = match.index + match[0].length;
    if (!isClause(text.slice(Math.max(from, match.index - besideMax), match.index))) continue;
    if (!isClause(text.slice(end, end + besideMax))) continue;
    parts.push(text.slice(from, match.index).trim());
    from = end;
  }
  parts.push(text.slice(from).trim());
  return parts.filter((part) => part !== "");
}

/** The clauses of one sentence, item or row. `before` holds the terms of the previous sentence. */
export function clausesOf(sentence: string, before: ReadonlySet<string>): Clause[] {
  const none: ReadonlySet<string> = new Set();
  let previous: { readonly within: ReadonlySet<string>; readonly reach: ReadonlySet<string> } = {
    within: none,
    reach: before,
  };
  return cutClauses(sentence).map((text) => {
    const terms = new Set(contentTerms(text));
    const leans = leaning.test(text) || terms.size <= fewTerms;
    const within = leans ? new Set([...previous.within, ...terms]) : terms;
    const reach = leans ? new Set([...previous.reach, ...terms]) : terms;
    previous = { within, reach };
    return {
      words: fold(text),
      terms,
      within,
      reach,
      quantities: hardFactsOf(text).quantities,
      names: namesOf(text),
      denies: deniesIn(text),
    };
  });
}

/** Removes Markdown markup and invisible characters. */
export function withoutMarkup(text: string): string {
  return plain(text)
    .replaceAll(/\\([\\*_`~[\]<>#+.!|&-])/gu, "$1")
    .replaceAll(/(\*\*|__|~~|`)/gu, "")
    .replaceAll(/(?<![\p{L}\p{N}])[*_](?=\S)|(?<=\S)[*_](?![\p{L}\p{N}])/gu, "")
    .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]/gu, "");
}

import type { Handover, Locale } from "#language/locale.ts";
import { locales, phrasesOfAllLocales, wordsOfAllLocales } from "#language/locales.ts";
import { isUnspaced } from "#language/words/runs.ts";
import { memoize } from "#runtime/memoize.ts";
import { fold } from "#language/words/runs.ts";

const wordPattern = /[\p{L}\p{N}\p{M}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
/** The words of a list in every language. */
const setOf = (list: keyof Handover): ReadonlySet<string> =>
  new Set(wordsOfAllLocales(({ handover }) => handover[list]));
const oneOf = (list: keyof Handover): string => [...setOf(list)].join("|");

/** Negations that apply to a request for a human shortly after them. */
const negations = setOf("negations");
/** The first part of a French negation. Apostrophes are already removed ("n'ai"). */
const frenchNe = /^n(?:ai|as|avons|avez|ont|est|etes|aime|en|y)$/u;
/** Negations that can follow the request: "einen Menschen brauche ich nicht". */
const trailing = setOf("trailing");
const trailingReach = 4;
/** A negation before one of these does not apply: "this does not work, I want a human". */
const clauseEnd = new RegExp(String.raw`[.,;:!?¡¿\n()–—]|(?:^|\s)(?:${oneOf("clauses")})(?=\s|$)`, "u");
/** Nor does one before a new request, even without a comma: "non funziona voglio parlare con una persona". */
const wishes = phrasesOfAllLocales(({ handover }) => handover.wishes);
const wish = new RegExp(
  String.raw`(?:^|\s)(?:${wishes})(?=\s|$)|^\s*\S+\s(?:.*\s)?(?:${oneOf("wishVerbs")})(?=\s|$)`,
  "u",
);
const negationReach = 6;
const sentencePart = /[.,;:!?¡¿()–—]/u;

/** Words that are a request by themselves: "Human!", "agent please". */
const people = setOf("persons");
/** Words that may accompany them. */
const beside = setOf("beside");
const besideMax = 6;
/** May follow a person whom the customer wants: "I need a human to help me". */
const afterPerson = new Set([
  ...beside,
  ..."to who that from for on at here instead not asap immediately about i not zum um für fur der die que qui pour para por che per aan om die te som att at om jonka kanssa чтобы которыи".split(
    " ",
  ),
]);

/** Words before a phrase that make it about others, or name a chat: "how do customers get a human?". */
const notOwn = new Set(["customers", "users", "visitors", "clients", "they", "a", "the", "this"]);

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function wordsOf(folded: string): Word[] {
  return [...folded.matchAll(wordPattern)].map((match) => ({
    text: match[0].replaceAll(/['’ʼ]/gu, ""),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** A run of words that asks for a person, or that does so with a person beside it. */
interface Pattern {
  readonly words: readonly string[];
  /** Absent: the words suffice. */
  readonly person?: {
    readonly named: ReadonlySet<string>;
    /** The most words to the person: after the pattern, or before it where negative. */
    readonly reach: number;
    /** True: the person must end the clause, but for words such as "please" and "to". */
    readonly isLast?: true;
  };
  /** Begin a clause that asks about persons. */
  readonly asks: readonly (readonly string[])[];
}

/** Patterns by their first word, and a search in scripts without spaces. */
interface Matcher {
  readonly unspaced: (folded: string) => string | undefined;
  readonly byFirst: ReadonlyMap<string, readonly Pattern[]>;
}

const talkReach = 6;
const talkLastReach = 5;
const transferReach = 5;
const wantReach = 2;

const splitWords = (text: string): readonly string[] => wordsOf(fold(text)).map((word) => word.text);
const splitPhrases = (text: string): (readonly string[])[] =>
  text.split("|").flatMap((phrase) => (phrase === "" ? [] : [splitWords(phrase)]));

function patternsOf({ handover }: Locale): readonly Pattern[] {
  const named = splitWords(handover.persons);
  const anyone = new Set([...named, ...splitWords(handover.staff)]);
  const asks = splitPhrases(handover.asks);
  const verbs = (list: string, reach: number): readonly Pattern[] =>
    splitWords(list).map((verb) => ({ words: [verb], person: { named: anyone, reach }, asks: [] }));
  return [
    ...verbs(handover.talk, talkReach),
    ...verbs(handover.talkLast, -talkLastReach),
    ...splitPhrases(handover.transfer).map((words) => ({
      words,
      person: { named: anyone, reach: transferReach },
      asks: [],
    })),
    ...splitPhrases(handover.want).map((words) => ({
      words,
      person: { named: new Set(named), reach: wantReach, isLast: true },
      asks: [],
    })),
    ...splitPhrases(handover.idioms).map((words) => ({ words, asks })),
  ];
}

const byFirstWord = (patterns: readonly Pattern[]): Matcher["byFirst"] =>
  Map.groupBy(patterns, ({ words: [first = ""] }) => first);

const unspacedRequest = new RegExp(
  phrasesOfAllLocales(({ handover }) => handover.unspaced),
  "u",
);
const builtIn: Matcher = {
  unspaced: (folded) => unspacedRequest.exec(folded)?.[0],
  byFirst: byFirstWord(Object.values(locales).flatMap(patternsOf)),
};

/** Cached by phrase: phrases of the settings come as a new array each time. */
const phraseWords = memoize(200_000, splitWords);

function matcherOf(phrases: readonly string[]): Matcher {
  const unspaced = phrases.filter(isUnspaced).map((phrase) => fold(phrase).trim());
  const patterns = phrases
    .filter((phrase) => !isUnspaced(phrase))
    .map((phrase) => ({ words: phraseWords(phrase), asks: [] }));
  return {
    unspaced: (folded) => unspaced.find((phrase) => folded.includes(phrase)),
    byFirst: byFirstWord(patterns),
  };
}

/**
 * The words by which the customer asks for a human, where the text does not negate it ("I don't want to talk to a
 * human"), or a whole text such as "agent". Null finds requests in every language that Parley knows; phrases of a
 * workspace are found instead. Case, accents and punctuation are ignored. Always undefined for an empty list.
 */
export function humanRequestIn(text: string, phrases: readonly string[] | null): string | undefined {
  if (phrases?.length === 0) return undefined;
  const folded = fold(text);
  const words = wordsOf(folded);
  if (namesPersonOnly(words)) return words.map((word) => word.text).join(" ");
  const { unspaced, byFirst } = phrases === null ? builtIn : matcherOf(phrases);
  const found = unspaced(folded);
  if (found !== undefined) return found;
  let clauseStart = 0;
  for (const [at, { text: first, start }] of words.entries()) {
    if (at > 0 && sentencePart.test(folded.slice(words[at - 1]?.end, start))) clauseStart = at;
    for (const pattern of byFirst.get(first) ?? []) {
      const span = spanOf(pattern, folded, words, at);
      if (span === undefined || isAbout(pattern, words, clauseStart, at)) continue;
      if ((pattern.person !== undefined || pattern.words.length > 2) && isOfOthers(folded, words, at)) continue;
      if (isDenied(folded, words, span.first) || isDeniedAfter(folded, words, span.last)) continue;
      return words
        .slice(span.first, span.last + 1)
        .map((word) => word.text)
        .join(" ");
    }
  }
  return undefined;
}

interface Span {
  readonly first: number;
  readonly last: number;
}

/** The words from the pattern to its person; undefined where the words are others. */
function spanOf(
  { words: wanted, person }: Pattern,
  folded: string,
  words: readonly Word[],
  at: number,
): Span | undefined {
  if (wanted.length === 0 || !wanted.every((word, offset) => words[at + offset]?.text === word)) return undefined;
  const last = at + wanted.length - 1;
  if (person === undefined) return { first: at, last };
  const isForward = person.reach > 0;
  for (let step = 1; step <= Math.abs(person.reach); step += 1) {
    const other = isForward ? last + step : at - step;
    const word = words[other];
    if (word === undefined) return undefined;
    const between = isForward ? folded.slice(words[last]?.end, word.start) : folded.slice(word.end, words[at]?.start);
    if (sentencePart.test(between)) return undefined;
    if (person.named.has(word.text)) {
      if (!isForward) return { first: other, last };
      let end = other;
      while (person.named.has(words[end + 1]?.text ?? "")) end += 1;
      return person.isLast === true && !endsClause(folded, words, end) ? undefined : { first: at, last: end };
    }
  }
  return undefined;
}

/** False for "I want an agent field" and "ich will einen Mitarbeiter einladen". */
function endsClause(folded: string, words: readonly Word[], at: number): boolean {
  const next = words[at + 1];
  return (
    next === undefined || sentencePart.test(folded.slice(words[at]?.end, next.start)) || afterPerson.has(next.text)
  );
}

/** True in a clause that asks about persons: "Are you a real person?". `start` is the clause's first word. */
function isAbout({ asks }: Pattern, words: readonly Word[], start: number, first: number): boolean {
  return asks.some((ask) => start + ask.length <= first && ask.every((word, at) => words[start + at]?.text === word));
}

function namesPersonOnly(words: readonly Word[]): boolean {
  return (
    words.length <= besideMax &&
    words.some(({ text }) => people.has(text)) &&
    words.every(({ text }) => people.has(text) || beside.has(text))
  );
}

function isOfOthers(folded: string, words: readonly Word[], at: number): boolean {
  const before = words[at - 1];
  return before !== undefined && notOwn.has(before.text) && /^\s+$/u.test(folded.slice(before.end, words[at]?.start));
}

const isNegation = (word: string): boolean => negations.has(word) || frenchNe.test(word);

function isDenied(folded: string, words: readonly Word[], at: number): boolean {
  const phraseStart = words[at]?.start ?? 0;
  for (let before = at - 1; before >= Math.max(0, at - negationReach); before -= 1) {
    const word = words[before];
    if (word === undefined) return false;
    const between = folded.slice(word.end, phraseStart);
    if (clauseEnd.test(between) || wish.test(between)) return false;
    // "no" is Spanish for "not", but "no puedo hablar con una persona?" asks for it.
    const next = words[before + 1]?.text;
    const passedOver = (word.text === "rather" && next === "than") || (word.text === "instead" && next === "of");
    if (passedOver) return true;
    if (isNegation(word.text)) return !isAsked(folded, words, before);
  }
  return false;
}

/** True for a negation at the end of the clause: "Mit einem Menschen sprechen möchte ich nicht". */
function isDeniedAfter(folded: string, words: readonly Word[], last: number): boolean {
  const phraseEnd = words[last]?.end ?? 0;
  for (let after = last + 1; after <= Math.min(words.length - 1, last + trailingReach); after += 1) {
    const word = words[after];
    if (word === undefined || clauseEnd.test(folded.slice(phraseEnd, word.start))) return false;
    if (trailing.has(word.text)) {
      // "… geht das nicht?" asks for it.
      return !/^\s*\?/u.test(folded.slice(word.end));
    }
  }
  return false;
}

const whys = setOf("whys");
const cans = setOf("cans");
const pronouns = setOf("pronouns");
/** Characters. A text has many negations, and each must not read it to its end. */
const questionReach = 400;
const turned = new Set(["cant", "dont", "wont", "isnt", "doesnt", "cannot"]);

/** True when the negation is part of a question, which asks for the thing: "can't I", "why don't you let me". */
function isAsked(folded: string, words: readonly Word[], negation: number): boolean {
  const word = (offset: number): string => words[negation + offset]?.text ?? "";
  // "por que no", "est-ce que je ne": the question begins some words before.
  if ([-1, -2, -3, -4, -5].some((offset) => whys.has(word(offset)))) return true;
  if (word(-1) === "que" && word(-2) === "por") return true;
  if (turned.has(word(0)) && pronouns.has(word(1))) return true;
  // "can I not", "kann ich nicht", "ne puis je pas".
  if (pronouns.has(word(-1)) && cans.has(word(-2))) return true;
  // "no podria hablar con alguien", "non potrei": the negation begins a question, with or without its mark.
  const before = folded.slice(words[negation - 1]?.end ?? 0, words[negation]?.start);
  if (cans.has(word(1)) && (negation === 0 || sentencePart.test(before))) return true;
  const end = words[negation]?.end ?? 0;
  const rest = folded.slice(end, end + questionReach);
  const asks = /^[^.!\n]*\?/u.test(rest);
  return asks && (cans.has(word(1)) || (word(0) === "pas" && [-1, -2].some((offset) => cans.has(word(offset)))));
}

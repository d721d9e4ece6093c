import { stemmer } from "stemmer";
import { isSpelt, slipsBetween } from "#knowledge/spelling.ts";

/** Words that carry no subject of their own. Compared before stemming, apostrophes already gone. */
const stopWords = new Set(
  `a about above actually after again all also am an and any anybody anyone anything are aren arent as at be because been
  before being below between both but by can cannot cant could couldnt did didnt do does doesnt doing dont down during
  each either else etc even ever every few for from further get gets getting go goes going got had hadnt has hasnt have
  havent having he hello her here hers herself hey hi him himself his how hows however i id if ill im in into is isnt it
  its itself ive just kindly let lets like many may maybe me might mine more most much must my myself need neither no nor
  not now of off ok okay on once one only or other our ours ourselves out over own perhaps please quite rather really s
  same shall she should shouldnt so some somebody someone something still such t tell than thank thanks that thats the
  their theirs them themselves then there theres these they thing things this those through to too under until up upon us
  very via want wants was wasnt we well were werent what whats when where wheres whether which while who whom whose why
  will with within without wont would wouldnt yes yet you youd youll your youre yours yourself yourselves youve`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

/** Words that most questions have whatever they are about; they count, but little. */
const softWords = `able add allow ask available best call change check come correct cost create different difference do easy
  exist explain find fix full give good happen have help here include info information issue keep know leave long look
  make mean need new number offer old option order part people place possible problem provide put question reason
  receive right see send set show simple small solve start stop support sure take thing think time today tomorrow try
  turn type understand use want way week wish without work work wrong year`;

/** Whether a folded word is a stop word with two letters swapped, such as "waht". One letter more or less is another word. */
export function isAlmostStopWord(word: string): boolean {
  const isSwapped = (other: string): boolean => other.length === word.length && slipsBetween(word, other, 1) === 1;
  return (stopWordsByLetters.get(lettersIn(word)) ?? []).some(isSwapped);
}

const lettersIn = (word: string): string => [...word].toSorted().join("");
const stopWordsByLetters: ReadonlyMap<string, readonly string[]> = Map.groupBy(
  [...stopWords].filter((word) => isSpelt(word)),
  lettersIn,
);

const wordPattern = /[\p{L}\p{N}\p{M}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
/** Scripts that write words without spaces between them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const latin = /^[a-z0-9]+$/;
/** A longer "word" is an encoded blob, not something that is asked for. */
const wordCharactersMax = 64;

/** Lower case without accents, so that "Café" and "cafe" are one word. Marks of scripts that need them stay. */
export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
}

/** The words of a text in order, folded, with stop words; apostrophes dropped ("don't" is "dont", "user's" is "user"). */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [found] of fold(text).matchAll(wordPattern)) {
    if (unspaced.test(found)) {
      for (const part of segmenter.segment(found))
        if (part.isWordLike === true) words.push(part.segment.slice(0, wordCharactersMax));
      continue;
    }
    const word = found.replace(/['’ʼ]s$/u, "").replaceAll(/['’ʼ]/gu, "");
    words.push(word.slice(0, wordCharactersMax));
  }
  return words;
}

export function stem(word: string): string {
  return latin.test(word) ? stemmer(word) : word;
}

const softStems = new Set(softWords.split(/\s+/).map((word) => stem(word)));

/** Whether a stem says little about what is asked. */
export function isSoft(term: string): boolean {
  return softStems.has(term);
}

/** A content word, folded, with its stem. */
export interface Word {
  readonly word: string;
  readonly term: string;
}

/** The content words of a text in order, repeats kept. */
export function contentWordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const word of wordsOf(text)) if (!stopWords.has(word)) words.push({ word, term: stem(word) });
  return words;
}

/** Their stems: what is indexed, and what a question is compared by. */
export function termsOf(text: string): string[] {
  return contentWordsOf(text).map(({ term }) => term);
}

/** Number of words, for limits on length. */
export function wordCount(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(/\S+/g)) count += 1;
  return count;
}

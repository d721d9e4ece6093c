import { phrasesOfAllLocales, wordsOfAllLocales } from "#language/locales.ts";
import { fold } from "#language/words/runs.ts";

/** Words of angry messages, by weight. A word in several lists has its last weight. */
const weights: ReadonlyMap<string, number> = new Map([
  ...wordsOfAllLocales(({ anger }) => anger.strong).map((word) => [word, 0.55] as const),
  ...wordsOfAllLocales(({ anger }) => anger.medium).map((word) => [word, 0.4] as const),
  ...wordsOfAllLocales(({ anger }) => anger.mild).map((word) => [word, 0.15] as const),
]);
/** One reaches the usual limit. */
const phraseWeight = 0.8;
const phrase = new RegExp(
  String.raw`(?<!\p{L})(?:${phrasesOfAllLocales(({ anger }) => anger.phrases)})(?!\p{L})`,
  "gu",
);
const unspacedWeight = 0.8;
const unspaced = new RegExp(
  phrasesOfAllLocales(({ anger }) => anger.unspaced),
  "gu",
);
const negations = new Set(wordsOfAllLocales(({ anger }) => anger.negations));
/** Up to this weight a word counts only together with heavier ones. */
const small = 0.15;
const charactersMax = 4_000;

/**
 * How angry or frustrated a message reads, 0 to 1, by its words, capitals and exclamation marks. A single strong word is
 * not enough for 0.8; two are, or one that is shouted.
 */
export function angerOf(text: string): number {
  const sample = text.slice(0, charactersMax);
  const folded = fold(sample).replaceAll("’", "'");
  const words = folded.match(/[\p{L}\p{M}']+/gu) ?? [];
  const plain = words.map((word) => word.replaceAll("'", ""));
  let strong = 0;
  let weak = 0;
  const seen = new Set<string>();
  for (const [at, word] of plain.entries()) {
    const weight = weights.get(word);
    if (weight === undefined || seen.has(word)) continue;
    seen.add(word);
    if (weight <= small) {
      weak += weight;
      continue;
    }
    // Skip negated words: "not angry", "no scam".
    if ([plain[at - 1], plain[at - 2]].some((before) => negations.has(before ?? ""))) continue;
    strong += weight;
  }
  strong += phraseWeight * new Set(folded.match(phrase)).size;
  strong += unspacedWeight * new Set(folded.match(unspaced)).size;
  if (strong === 0) return 0;
  const score = strong + Math.min(weak, 0.3) + shouting(sample);
  return Math.min(1, Math.round(score * 100) / 100);
}

/** Extra weight for capitals and repeated exclamation marks. Must not count alone. */
function shouting(text: string): number {
  const words = text.match(/\p{L}{3,}/gu) ?? [];
  const loud = words.filter((word) => word === word.toUpperCase() && word !== word.toLowerCase()).length;
  const capitals = words.length >= 2 && loud / words.length >= 0.4 ? 0.3 : 0;
  const marks = (/[!?]*!{2,}[!?]*|\?!|!\?/u.test(text) ? 0.15 : 0) + (/!{3,}/u.test(text) ? 0.1 : 0);
  return capitals + marks;
}

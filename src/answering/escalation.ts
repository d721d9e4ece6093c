import { fold } from "./terms.ts";

const wordPattern = /[\p{L}\p{N}\p{M}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
/** Words that turn the wish for a person into its opposite, when they stand shortly before it. */
const negations = new Set(
  `not no never dont doesnt didnt cant cannot wont wouldnt shouldnt neednt needn isnt without instead rather avoid stop
  hate nobody nor neither`.split(/\s+/),
);
/** After these the negation belongs to something else: "this does not work, I want a human". */
const clauseEnd = /[.,;:!?\n()–—]|(?:^|\s)(?:but|so|and|because|then|please|just|let|lemme|connect|get|give)(?=\s|$)/u;
const negationReach = 6;

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

/**
 * Whether the customer asks for a person: one of the phrases is in the text, word for word, whatever the case, accents
 * and punctuation, and is not denied ("I don't want to talk to a human").
 */
export function asksForHuman(text: string, phrases: readonly string[]): boolean {
  const folded = fold(text);
  const words = wordsOf(folded);
  return phrases.some((phrase) => {
    const wanted = wordsOf(fold(phrase)).map((word) => word.text);
    if (wanted.length === 0) return false;
    for (let at = 0; at + wanted.length <= words.length; at += 1) {
      if (wanted.every((word, offset) => words[at + offset]?.text === word) && !isDenied(folded, words, at))
        return true;
    }
    return false;
  });
}

function isDenied(folded: string, words: readonly Word[], at: number): boolean {
  const phraseStart = words[at]?.start ?? 0;
  for (let before = at - 1; before >= Math.max(0, at - negationReach); before -= 1) {
    const word = words[before];
    if (word === undefined || clauseEnd.test(folded.slice(word.end, phraseStart))) return false;
    // "why can't I talk to a human", "can I not talk to a human": asked, not denied.
    if (negations.has(word.text)) return !isAsked(words, before);
  }
  return false;
}

/** "can't I", "why don't you let me": a negation in a question asks for the thing. */
function isAsked(words: readonly Word[], negation: number): boolean {
  const [previous, word, next] = [words[negation - 1]?.text, words[negation]?.text, words[negation + 1]?.text];
  if (previous === "why" || previous === "if") return true;
  const turned =
    ["cant", "dont", "wont", "isnt", "doesnt", "cannot"].includes(word ?? "") &&
    ["i", "you", "we", "there", "someone"].includes(next ?? "");
  // "do not you" is nobody's English, "can I not" is.
  const asking =
    word === "not" && previous === "i" && ["can", "could", "may", "why"].includes(words[negation - 2]?.text ?? "");
  return turned || asking;
}

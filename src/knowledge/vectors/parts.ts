import { splitSentences } from "#language/words/sentences.ts";

/** Sentences beyond these get no vector: a passage that is so long repeats its subject. */
const partsMax = 8;
const wordsMin = 3;
/** Scripts without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu;
const unspacedMin = 6;
/** Longer texts are cut; models would refuse or truncate them. */
const charactersMax = 2_000;

/** The parts of a passage that get a vector each: its heading first, then its sentences. Empty parts are left out. */
export function partsOf(title: string, text: string): readonly string[] {
  const parts = [...new Set([title, ...sentencesOf(text)])].filter((part) => part !== "").slice(0, partsMax);
  // A passage of single words, without a heading, is a part of its own.
  const all = parts.length === 0 && text.trim() !== "" ? [text.trim()] : parts;
  return all.map((part) => part.slice(0, charactersMax));
}

/** Sentences that say something by themselves. */
function sentencesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .flatMap((line) => splitSentences(line))
    .map((each) => each.trim())
    .filter((each) => each.split(/\s+/u).length >= wordsMin || (each.match(unspaced)?.length ?? 0) >= unspacedMin);
}

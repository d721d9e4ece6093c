import { hash } from "node:crypto";
import { stemmer } from "stemmer";
import { workspaceShortId } from "#domain/ids.ts";
import type { ConversationFilter } from "./contract.ts";

// Both databases are given the same tokens, so that a search finds the same with either. A token is lower-case ASCII
// letters, digits and `_`, and begins with its workspace's short id: a word's list then holds one workspace's
// conversations only, and no word is too short for InnoDB or on its list of words to ignore.

/** Words of a search that count; more than a person types, and few enough to look up at once. */
const searchWordsMax = 64;
const wordLengthMax = 40;

/** Stands between two messages, where no phrase may go across. No word is made of it. */
export const messageBreak = "_";

/** What compatibility decomposition leaves as it is and people type in two ways. */
const spelledOut: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ς: "σ",
};

// Latin, Greek and Cyrillic accents, the vowel points that Hebrew and Arabic are written with or without, and what only
// joins or styles characters. The marks of other scripts are letters to their readers.
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\p{Me}\p{Cf}\p{Variation_Selector}]/gu;

const runPattern = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}/gu;
// Scripts that put no spaces between words: each character is a word, and a run of them a phrase.
const unspaced = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const hasUnspaced = new RegExp(`[${unspaced}]`, "u");
const unspacedParts = new RegExp(`[${unspaced}]\\p{M}*|[^${unspaced}]+`, "gu");

/** Nothing in it has to be folded. */
const plain = /^\p{ASCII}*$/u;
const plainRun = /[a-z0-9]+/g;

const ascii = /^[a-z0-9]+$/;
const alphabetic = /^[a-z]+$/;

/** The words of a text in order, as tokens of this workspace. */
function tokensOf(workspaceId: string, text: string): string[] {
  const prefix = workspaceShortId(workspaceId);
  if (plain.test(text)) return (text.toLowerCase().match(plainRun) ?? []).map((word) => prefix + written(word));
  const folded = text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(accents, "")
    .replaceAll(/[ßæœøłđðþıς]/g, (letter) => spelledOut[letter] ?? letter)
    .normalize("NFKC");
  const tokens: string[] = [];
  for (const [run] of folded.matchAll(runPattern)) {
    for (const word of hasUnspaced.test(run) ? (run.match(unspacedParts) ?? []) : [run])
      tokens.push(prefix + written(word));
  }
  return tokens;
}

function written(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (alphabetic.test(word) && word.length <= wordLengthMax) return keepStem(word, stemmer(word));
  if (ascii.test(word) && word.length <= wordLengthMax) return word;
  const [character = "", ...others] = word;
  if (others.length === 0) return `_${(character.codePointAt(0) ?? 0).toString(16)}`;
  return `_${digest(word)}`;
}

/** A few words make up most of what people write. */
const stems = new Map<string, string>();
const stemsMax = 10_000;

function keepStem(word: string, stem: string): string {
  if (stems.size >= stemsMax) stems.clear();
  stems.set(word, stem);
  return stem;
}

function digest(text: string): string {
  return hash("sha256", text).slice(0, 12);
}

/** A conversation's messages, oldest first, as one text of tokens with a space at both ends. */
export function documentOf(workspaceId: string, messages: readonly string[]): string {
  const texts = messages.map((message) => tokensOf(workspaceId, message).join(" ")).filter((text) => text !== "");
  return ` ${texts.join(` ${messageBreak} `)} `;
}

/** Words that must stand in one message, one after the other. Most are a single word. */
export type Phrase = readonly string[];

/**
 * What a search asks for; all of it must match. Text in quotes is one phrase, and so is what is written in one piece
 * ("order-1234"). No operators: every other sign only separates. Empty when it holds no word. Words after the
 * 64th do not count.
 */
export function phrasesOf(workspaceId: string, text: string): readonly Phrase[] {
  const found = new Map<string, Phrase>();
  let count = 0;
  for (const piece of piecesOf(text)) {
    const phrase = tokensOf(workspaceId, piece).slice(0, searchWordsMax - count);
    const key = phrase.join(" ");
    if (phrase.length === 0 || found.has(key)) continue;
    found.set(key, phrase);
    count += phrase.length;
    if (count >= searchWordsMax) break;
  }
  return [...found.values()];
}

function* piecesOf(text: string): Generator<string> {
  const parts = text.split(/["“”„«»]/);
  for (const [index, part] of parts.entries()) {
    // A quote that is never closed quotes nothing.
    const quoted = index % 2 === 1 && index < parts.length - 1;
    if (quoted) yield part;
    else yield* part.split(/\s+/);
  }
}

type Facets = Omit<ConversationFilter, "since" | "until">;

/** Tokens that say what a conversation is filtered by. `_` and a letter that no hexadecimal number has begin them. */
export function facetTokens(facets: Facets): string[] {
  const prefix = workspaceShortId(facets.workspaceId);
  const tokens: string[] = [];
  if (facets.channel !== undefined) tokens.push(`${prefix}_k${facets.channel}`);
  if (facets.status !== undefined) tokens.push(`${prefix}_s${facets.status}`);
  if (facets.slaState !== undefined) tokens.push(`${prefix}_l${facets.slaState}`);
  if (facets.email !== undefined) tokens.push(`${prefix}_m${digest(facets.email.toLowerCase())}`);
  for (const tag of facets.tags ?? []) tokens.push(`${prefix}_t${digest(tag)}`);
  return tokens;
}

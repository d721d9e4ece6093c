import { hash } from "node:crypto";
import { stemmer } from "stemmer";
import { workspaceShortId } from "#domain/ids.ts";
import type { ConversationFilter } from "./contract.ts";

// Both databases index the same tokens, so that searches have the same results. A token is lower-case ASCII letters,
// digits and `_`, and begins with the workspace's short id: the list of a token then holds conversations of one workspace,
// and no token is too short for InnoDB or a stop word.

/** Further words of a search are ignored. */
const searchWordsMax = 64;
const wordLengthMax = 40;

/** Separates messages, so that no phrase matches across two of them. No token equals it. */
export const messageBreak = "_";

/** Letters that people type in two ways, and that compatibility decomposition does not change. */
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

// Latin, Greek and Cyrillic accents, the optional vowel points of Hebrew and Arabic, and joining or styling characters. In
// other scripts marks are part of the letters.
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\p{Me}\p{Cf}\p{Variation_Selector}]/gu;

const runPattern = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}/gu;
// Scripts without spaces between words: each character is a word, and a run of them a phrase.
const unspaced = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const hasUnspaced = new RegExp(`[${unspaced}]`, "u");
const unspacedParts = new RegExp(`[${unspaced}]\\p{M}*|[^${unspaced}]+`, "gu");

/** Matches text that needs no folding. */
const plain = /^\p{ASCII}*$/u;
const plainRun = /[a-z0-9]+/g;

const ascii = /^[a-z0-9]+$/;
const alphabetic = /^[a-z]+$/;

/** The tokens of a text, in order. */
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

/** Cache, since a few words make up most texts. */
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

/** The tokens of a conversation's messages, oldest first, as one text with a space at both ends. */
export function documentOf(workspaceId: string, messages: readonly string[]): string {
  const texts = messages.map((message) => tokensOf(workspaceId, message).join(" ")).filter((text) => text !== "");
  return ` ${texts.join(` ${messageBreak} `)} `;
}

/** Consecutive words of one message. Most phrases are a single word. */
export type Phrase = readonly string[];

/**
 * The phrases of a search, all of which must match. Quoted text is one phrase, as is text without spaces ("order-1234").
 * There are no operators: other characters only separate words. Words after the 64th are ignored.
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
    // An unclosed quotation mark is ignored.
    const quoted = index % 2 === 1 && index < parts.length - 1;
    if (quoted) yield part;
    else yield* part.split(/\s+/);
  }
}

type Facets = Omit<ConversationFilter, "since" | "until">;

/** Tokens of filter values. They begin with `_` and a letter that is not a hexadecimal digit. */
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

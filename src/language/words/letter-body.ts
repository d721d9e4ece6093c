import { phrasesOfAllLocales } from "#language/locales.ts";

// Salutations and closings, in letters and often in chats too. The names in them are no words that an answer must contain.

const salutation = new RegExp(
  `^(?:${phrasesOfAllLocales(({ letters }) => letters.salutations)})(?![\\p{L}\\p{N}])[^?\\n]{0,60}?(?<comma>[,!:.–-]?)$`,
  "iu",
);
/** At most a name may follow. */
const closing = new RegExp(
  `^(?:${phrasesOfAllLocales(({ letters }) => letters.closings)})(?:[ ,.!;:–-]{1,4}(?:\\p{L}[\\p{L}.'’-]{0,30} ?){0,3})?[ ,.!–-]{0,3}$`,
  "iu",
);

const textMax = 20_000;
const wordsMax = 4;
/** Lines after the closing: a name, a company, a place. */
const linesBelowMax = 4;

const words = (line: string): number => line.split(/\s+/u).length;

/** A message without its salutation, closing and signature. Never empty: a message of nothing else is returned whole. */
export function letterBody(text: string): string {
  if (text.length > textMax || !text.trim().includes("\n")) return text;
  const lines = text.split("\n").map((line) => line.trim());
  const written = lines.flatMap((line, at) => (line === "" ? [] : [at]));
  // A subject may precede it.
  const first = written.slice(0, 2).find((at) => isSalutation(lines[at] ?? ""));
  const last = written.slice(-linesBelowMax - 1).find((at) => closing.test(lines[at] ?? "") && isClosed(lines, at));
  const kept = lines.filter((line, at) => {
    if (at === first) return false;
    // A number after the closing may be what the question needs.
    return last === undefined || at < last || (at > last && /\d/.test(line));
  });
  const body = kept.join("\n").trim();
  return /[\p{L}\p{N}]/u.test(body) ? body : text;
}

function isSalutation(line: string): boolean {
  const found = salutation.exec(line);
  return found !== null && (found.groups?.["comma"] !== "" || words(line) <= wordsMax);
}

/** True when no question follows the closing. */
function isClosed(lines: readonly string[], at: number): boolean {
  const below = lines.slice(at + 1).filter((line) => line !== "");
  return below.length <= linesBelowMax && below.every((line) => line.length <= 80 && !/[?？]/u.test(line));
}

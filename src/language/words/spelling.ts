/**
 * The words of a knowledge base, for spelling correction. Kept in memory: a word takes about 100 bytes, and a search
 * through 100,000 words about a millisecond.
 */
export interface Vocabulary {
  readonly size: number;
  has(word: string): boolean;
  add(word: string, term: string): void;
  /** Distinct stems of the words with the smallest typo distance to this one. */
  near(word: string): string[];
}

/** Shorter words have too many neighbours. */
const wordMin = 4;
const wordMax = 30;
/** Minimum length for two typos. */
export const twoTyposFrom = 8;
/** Up to this length a replaced letter is not a typo: it makes another word ("lease", "leave"). */
const shortMax = 4;
export const partMin = 3;

/** Whether a word can be misspelt. False for numbers and codes, which must match exactly. */
export function isSpelt(word: string, min = wordMin): boolean {
  return word.length >= min && word.length <= wordMax && lettersOnly.test(word);
}

// Alphabetic scripts only: words of other scripts have too few characters to correct one.
const lettersOnly =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Hebrew}\p{Script=Arabic}]+$/u;

interface OfLength {
  readonly words: string[];
  readonly terms: string[];
  /** One bit per letter of each word. */
  readonly letters: number[];
}

export function createVocabulary(): Vocabulary {
  const byLength = new Map<number, OfLength>();
  const terms = new Map<string, string>();

  function split(word: string): string[] {
    for (let at = partMin; at <= word.length - partMin; at += 1) {
      const first = terms.get(word.slice(0, at));
      const second = terms.get(word.slice(at));
      if (first !== undefined && second !== undefined) return [first, second];
    }
    return [];
  }

  return {
    get size() {
      return terms.size;
    },
    has: (word) => terms.has(word),
    add(word, term) {
      if (terms.has(word)) return;
      terms.set(word, term);
      const same = byLength.get(word.length) ?? { words: [], terms: [], letters: [] };
      byLength.set(word.length, same);
      same.words.push(word);
      same.terms.push(term);
      same.letters.push(lettersOf(word));
    },
    near(word) {
      if (!isSpelt(word)) return [];
      let reach = word.length >= twoTyposFrom ? 2 : 1;
      const letters = lettersOf(word);
      let found = new Set<string>();
      const isShort = word.length <= shortMax;
      const initial = word.charAt(0);
      for (let length = word.length - reach; length <= word.length + reach; length += 1) {
        const same = byLength.get(length);
        if (same === undefined || length < partMin) continue;
        for (let index = 0; index < same.words.length; index += 1) {
          // A typo changes at most two letters, so the bits exclude most words without a comparison.
          if (bitsOf(letters ^ (same.letters[index] ?? 0)) > 2 * reach) continue;
          const other = same.words[index] ?? "";
          if (isShort && (other.charAt(0) !== initial || isOtherLetter(word, other))) continue;
          const typos = typoDistance(word, other, reach);
          if (typos > reach) continue;
          if (typos < reach) {
            reach = typos;
            found = new Set();
          }
          found.add(same.terms[index] ?? "");
        }
      }
      return found.size > 0 ? [...found] : split(word);
    },
  };
}

/** True when the words have the same length and differ by more than swapped letters. */
function isOtherLetter(word: string, other: string): boolean {
  return word.length === other.length && lettersOf(word) !== lettersOf(other);
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

function bitsOf(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

const width = wordMax + 3;
const rows = [new Uint8Array(width), new Uint8Array(width), new Uint8Array(width)] as const;

/** Number of missing, added, wrong or swapped letters. Returns some number above `most` when there are more. */
export function typoDistance(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most || right.length > wordMax + 2) return most + 1;
  let [older, before, current] = rows;
  for (let column = 0; column <= right.length; column += 1) before[column] = column;
  for (let row = 1; row <= left.length; row += 1) {
    current[0] = row;
    let least = row;
    const letter = left.charCodeAt(row - 1);
    for (let column = 1; column <= right.length; column += 1) {
      const other = right.charCodeAt(column - 1);
      let typos = Math.min(
        (before[column - 1] ?? 0) + (letter === other ? 0 : 1),
        (before[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
      );
      if (row > 1 && column > 1 && letter === right.charCodeAt(column - 2) && left.charCodeAt(row - 2) === other)
        typos = Math.min(typos, (older[column - 2] ?? 0) + 1);
      current[column] = typos;
      if (typos < least) least = typos;
    }
    if (least > most) return most + 1;
    [older, before, current] = [before, current, older];
  }
  return before[right.length] ?? most + 1;
}

/** Words after a hyphen that stands for a left-out part: "Versand- und Packkosten". */
const afterLeftOut = /^(?:und|oder|bzw|sowie|and|or|en|of|et|ou|och|eller|og|y|e|o)(?![\p{L}\p{N}])/u;
/** Two halves of a word that a program breaks are rarely words both, if they are this long; nor is its end this short. */
const wordLettersMin = 4;
const endLettersMax = 2;
/** A document has fewer different words; more are not counted. */
const wordsMax = 200_000;
const brokenStart = /([\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*)-$/u;
const brokenEnd = /^\p{Ll}[\p{L}\p{N}]*(?:-[\p{L}\p{N}]+)*/u;

interface Broken {
  readonly start: string;
  readonly end: string;
}

/** Joins the lines of a text. The hyphens of "E-Mail", "X-200" and "long-term" stay, that of a broken word goes. */
export type JoinLines = (lines: readonly string[]) => string;

/** Reads from the lines of a document whether its words are written with a hyphen. */
export function createJoinLines(lines: readonly string[]): JoinLines {
  const words = wordsOf(lines);
  const timesOf = (word: string): number => {
    const [first = ""] = word;
    const rest = word.slice(first.length);
    const forms = new Set([word, `${first.toLowerCase()}${rest}`, `${first.toUpperCase()}${rest}`]);
    return [...forms].reduce((sum, form) => sum + (words.get(form) ?? 0), 0);
  };
  /** Undefined where the document does not write the word otherwise. */
  const isHyphenated = ({ start, end }: Broken): boolean | undefined => {
    const [hyphenated, joined] = [timesOf(`${start}-${end}`), timesOf(`${start}${end}`)];
    return hyphenated + joined === 0 ? undefined : hyphenated >= joined;
  };
  const isOfWords = ({ start, end }: Broken): boolean =>
    timesOf(lastOf(start)) > 0 && (words.get(end.split("-")[0] ?? "") ?? 0) > 0;
  const breaksWords = lines.some((line, index) => {
    const broken = brokenAt(line, lines[index + 1] ?? "");
    return broken !== undefined && !(isHyphenated(broken) ?? isOfWords(broken));
  });

  function keepsHyphen(broken: Broken): boolean {
    const known = isHyphenated(broken);
    if (known !== undefined) return known;
    const { start, end } = broken;
    if (start.includes("-") && lastOf(start).length < wordLettersMin) return true;
    if (!isOfWords(broken)) return false;
    const isLong = Math.min(lastOf(start).length, end.length) >= wordLettersMin;
    return isLong || end.length <= endLettersMax || !breaksWords;
  }

  /** The part of a line that is written before the next one. */
  function beforeNext(line: string, next: string): string {
    if (/[\p{L}-]\/$/u.test(line)) return line;
    const isSpaced = !/[\p{L}\p{N}]-$/u.test(line) || !/^[\p{L}\p{N}]/u.test(next) || afterLeftOut.test(next);
    if (isSpaced) return `${line} `;
    const broken = brokenAt(line, next);
    return broken === undefined || keepsHyphen(broken) ? line : line.slice(0, -1);
  }

  return (parts) =>
    parts.map((line, index) => (index + 1 < parts.length ? beforeNext(line, parts[index + 1] ?? "") : line)).join("");
}

const lastOf = (start: string): string => start.slice(start.lastIndexOf("-") + 1);

/** The halves of a word that may have been broken: not those of "E-Mail", "X-200" and "Kunden-Service". */
function brokenAt(line: string, next: string): Broken | undefined {
  const start = brokenStart.exec(line.slice(-100))?.[1];
  const end = brokenEnd.exec(next.slice(0, 100))?.[0];
  if (start === undefined || end === undefined || afterLeftOut.test(next)) return undefined;
  return lastOf(start).length > 1 && /\p{Ll}$/u.test(start) ? { start, end } : undefined;
}

/** How often each word stands in a line; halves of words at the ends of lines are none. */
function wordsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  let isBroken = false;
  for (const line of lines) {
    for (const { 0: word, index } of line.matchAll(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*-?/gu)) {
      if (word.endsWith("-") || (isBroken && index === 0)) continue;
      const times = words.get(word);
      if (times !== undefined || words.size < wordsMax) words.set(word, (times ?? 0) + 1);
    }
    isBroken = /[\p{L}\p{N}]-$/u.test(line);
  }
  return words;
}

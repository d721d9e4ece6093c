import { wordsOfAllLocales } from "#language/locales.ts";
import { fold } from "#language/words/runs.ts";
import { attachedOnly, isTens, multipliers, numberWords, unitOf } from "./word-lists.ts";

/** A number in normalized notation, with its unit. */
export interface Quantity {
  readonly value: string;
  /** Null when no known unit was found. */
  readonly unit: string | null;
  /** "one" without a unit is more often a pronoun than a number. */
  readonly vague: boolean;
  readonly at: number;
  /** Written as a word: "two". */
  readonly isWord: boolean;
  /** "28th". It has no unit. */
  readonly isRank: boolean;
  /** The hour as it is written in "11 p.m.", whose value is "23:00". Null for everything else. */
  readonly hour: string | null;
}

/** Facts that must be in the source literally. */
export interface HardFacts {
  readonly quantities: readonly Quantity[];
  /** Links, domains and names of files; e-mail addresses; telephone numbers; article numbers and the like. */
  readonly letters: readonly string[];
}

// Each pattern matches only at the start of a run of its characters. Otherwise matching takes quadratic time.
const emailPattern = /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const linkPattern =
  /\b(?:https?|ftp|file|data|javascript|vbscript|mailto|tel|sms|blob):\S[^\s<>()[\]"'`]*|\bwww\.[^\s<>()[\]"'`]+|(?<![\p{L}\p{N}@-]|[\p{L}\p{N}-]\.)(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}(?![\p{L}\p{N}])(?:[/:?#][^\s<>()[\]"'`]*)?/giu;
const phonePattern = /(?<![\p{L}\p{N}])(?:\+|00|\(?0)\d[\d ()/.-]{5,40}\d/gu;
const datePattern = /(?<![\p{L}\p{N}])(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}([./-])\d{1,2}\1\d{2,4})(?!\d)/gu;
/** "11 p.m.", "6:30 pm". Not "12:00 am Vortag", which is German. */
const twelveHoursPattern =
  /(?<![\p{L}\p{N}.,:])(1[0-2]|0?[1-9])(?:[:.](\d{2}))?[ \u00a0\u202f]?(?:([apAP])\.[ ]?[mM]\.?|([apAP])[mM](?![\p{L}\p{N}])(?!\s+\p{Lu}))/gu;
const timePattern = /(?<![\p{L}\p{N}])(\d{1,2}):(\d{2})(?::\d{2})?(?!\d)/gu;
/** Letters that form codes with digits: article numbers, models, keys. CJK letters next to a number are not part of it. */
const alphabetic = String.raw`a-z\u00c0-\u024f\u0370-\u04ff`;
const codePattern = new RegExp(
  String.raw`(?<![${alphabetic}\d])(?:[${alphabetic}]+[-_]?\d[${alphabetic}\d_-]*|\d+[${alphabetic}]+[${alphabetic}\d_-]*)`,
  "giu",
);
/** "28th": the number 28. */
const ordinal = /^(\d+)(?:st|nd|rd|th)$/iu;
const attachedUnit = new RegExp(String.raw`^\d+([${alphabetic}]+)$`, "iu");
const numberPattern = /\d{1,3}(?:[ '’.,\u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*/gu;
const wordPattern = /[\p{L}\p{M}]+(?:\.[\p{L}](?=\.))?|[%€$£¥₹]|°[cf]/giu;
const signs = /(?:us)?[€$£¥₹]|\b(?:eur|usd|gbp|chf|jpy|inr)\b/giu;
const joining = new RegExp(
  String.raw`^[\s]*(?:[-–—,/]|${wordsOfAllLocales(({ clauses }) => clauses.ranges).join("|")})?[\s]*$`,
  "iu",
);

/** How many words after a number its unit can be ("three working days"). */
const unitReach = 3;

/** Normalizes look-alike characters, and the digits of all scripts to 0 to 9. */
export function plain(text: string): string {
  return text.normalize("NFKC").replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    if (code < 0x80) return digit;
    let before = 0;
    while (before < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
    return String(before);
  });
}

/** Normalizes a link: removes the scheme, "www.", a final slash and punctuation. */
function linkKey(link: string): string {
  return link
    .toLowerCase()
    .replace(/[.,;:!?'"*_]+$/u, "")
    .replace(/^https?:\/\//u, "")
    .replace(/^www\./u, "")
    .replace(/\/$/u, "");
}

function valueOf(number: string): string {
  if (/^\d{1,3}(?:[ '’.,\u00a0\u202f]\d{3})+$/u.test(number)) return trimmed(number.replaceAll(/\D/gu, ""));
  const decimal = /^(.*)[.,](\d+)$/u.exec(number);
  if (decimal === null) return trimmed(number);
  const [, whole = "", fraction = ""] = decimal;
  // More than one point of the same kind: a version, not a number.
  if (/[.,]/u.test(whole) && !/^\d{1,3}(?:[ '’.,]\d{3})+$/u.test(whole)) return number;
  const rest = fraction.replace(/0+$/u, "");
  return `${trimmed(whole.replaceAll(/\D/gu, ""))}${rest === "" ? "" : `.${rest}`}`;
}

const trimmed = (digits: string): string => digits.replace(/^0+(?=\d)/u, "");

interface NumberSpan {
  readonly isWord?: true;
  readonly isRank?: true;
  readonly hour?: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly unit: string | null;
  readonly isOne: boolean;
}

/** Reads the facts of a text. The text must be normalized by {@link plain}. */
export function hardFactsOf(text: string): HardFacts {
  const letters: string[] = [];
  const found: NumberSpan[] = [];
  let rest = text;
  const take = (pattern: RegExp, use: (match: RegExpExecArray) => void): void => {
    rest = rest.replaceAll(pattern, (...args: unknown[]) => {
      const [whole] = args as [string];
      const match = new RegExp(pattern.source, pattern.flags.replace("g", "")).exec(whole);
      const at = args.findLast((each) => typeof each === "number") ?? 0;
      if (match !== null) {
        match.index = at;
        use(match);
      }
      return " ".repeat(whole.length);
    });
  };
  const bare = (value: string, at: number, length: number): void => {
    found.push({ value, start: at, end: at + length, unit: null, isOne: false });
  };
  take(emailPattern, ([email]) => letters.push(email.toLowerCase().replace(/\.+$/u, "")));
  take(linkPattern, ([link]) => letters.push(linkKey(link)));
  take(datePattern, ({ 0: date, index }) =>
    bare(
      date
        .split(/[./-]/u)
        .map((part) => trimmed(part))
        .join("-"),
      index,
      date.length,
    ),
  );
  take(phonePattern, ([phone]) => letters.push(`tel ${phone.replaceAll(/\D/gu, "").replace(/^0+/u, "")}`));
  take(twelveHoursPattern, (match) => {
    const [{ length }, hour = "", minutes = "00", dotted, plainLetter] = match;
    const hours = (Number(hour) % 12) + ((dotted ?? plainLetter)?.toLowerCase() === "p" ? 12 : 0);
    const end = match.index + length;
    found.push({
      value: `${hours}:${minutes}`,
      hour: trimmed(hour),
      start: match.index,
      end,
      unit: null,
      isOne: false,
    });
  });
  take(timePattern, (match) => bare(`${trimmed(match[1] ?? "")}:${match[2]}`, match.index, match[0].length));
  take(codePattern, ({ 0: code, index }) => {
    const unit = unitOf.get(attachedUnit.exec(code)?.[1]?.toLowerCase() ?? "");
    const rank = ordinal.exec(code)?.[1];
    const end = index + code.length;
    if (rank !== undefined)
      found.push({ value: valueOf(rank), start: index, end, unit: null, isOne: false, isRank: true });
    else if (unit === undefined) letters.push(code.toLowerCase());
    else {
      const value = valueOf(/^\d+/u.exec(code)?.[0] ?? "");
      found.push({ value, start: index, end, unit, isOne: false });
    }
  });
  take(numberPattern, ({ 0: number, index }) => bare(valueOf(number), index, number.length));
  found.push(...written(rest));
  return { quantities: withUnits(rest, found), letters };
}

/** Reads numbers that are written as words. */
function written(text: string): NumberSpan[] {
  const words = [...text.matchAll(/[\p{L}\p{M}]+/gu)].map((match) => ({
    word: fold(match[0]),
    start: match.index,
    end: match.index + match[0].length,
  }));
  const found: NumberSpan[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const first = words[index];
    const begun = first === undefined ? undefined : numberWords.get(first.word);
    if (first === undefined || begun === undefined) continue;
    let value = begun;
    let end = first.end;
    const next = words[index + 1];
    const ones = next === undefined ? undefined : numberWords.get(next.word);
    if (
      isTens(first.word) &&
      next !== undefined &&
      ones !== undefined &&
      ones > 0 &&
      ones < 10 &&
      next.start - end === 1
    ) {
      value += ones;
      ({ end } = next);
      index += 1;
    }
    const times = multipliers.get(words[index + 1]?.word ?? "");
    if (times !== undefined) {
      value *= times;
      end = words[index + 1]?.end ?? end;
      index += 1;
    }
    found.push({ value: String(value), start: first.start, end, unit: null, isOne: value === 1, isWord: true });
  }
  return found;
}

function withUnits(text: string, found: readonly NumberSpan[]): Quantity[] {
  const ordered = found.toSorted((left, right) => left.start - right.start);
  const units = ordered.map((each, index) =>
    hasNoUnit(each) ? null : (each.unit ?? signBefore(text, each) ?? unitBehind(text, each, ordered[index + 1])),
  );
  // "25, 50 or 100 €": the last unit applies to all.
  for (let index = ordered.length - 2; index >= 0; index -= 1) {
    const between = text.slice(ordered[index]?.end, ordered[index + 1]?.start);
    const each = ordered[index];
    if (each === undefined || hasNoUnit(each)) continue;
    if (units[index] === null && joining.test(between)) units[index] = units[index + 1] ?? null;
  }
  return ordered.map(({ value, start, isOne, isWord = false, isRank = false, hour = null }, index) => {
    const unit = units[index] ?? null;
    return { value, unit, vague: isOne && unit === null, at: start, isWord, isRank, hour };
  });
}

const hasNoUnit = ({ isRank, hour }: NumberSpan): boolean => isRank === true || hour !== undefined;

/** Whether both are one number, whatever their units: "at 9" may say "9 a.m.", and "28" the rank "28th". */
export function isSameNumber(said: Quantity, has: Quantity): boolean {
  if ((said.isRank && has.unit !== null) || (has.isRank && said.unit !== null)) return false;
  return said.value === has.value || said.hour === has.value || has.hour === said.value;
}

/** Whether the source says a number as a statement does. */
export const saysNumber = (said: Quantity, has: Quantity): boolean =>
  isSameNumber(said, has) &&
  (said.value === has.value ? said.unit === null || said.unit === has.unit : said.hour === null);

/** A currency before the number. */
function signBefore(text: string, { start }: NumberSpan): string | null {
  const before = text.slice(Math.max(0, start - 5), start);
  const last = [...before.matchAll(signs)].at(-1);
  if (last === undefined || !/^\s?$/u.test(before.slice(last.index + last[0].length))) return null;
  // In "4 € 50" the sign belongs to the number before it.
  return unitOf.get(last[0].toLowerCase()) ?? null;
}

function unitBehind(text: string, { end }: NumberSpan, next: NumberSpan | undefined): string | null {
  const behind = text.slice(end, Math.min(end + 60, next?.start ?? Number.POSITIVE_INFINITY));
  // A unit is in the same clause as its number.
  const [clause = ""] = behind.split(/[,;:!?()|\n]|\.(?:\s|$)/u);
  let words = 0;
  for (const { 0: word, index } of clause.matchAll(wordPattern)) {
    const key = fold(word);
    const unit = unitOf.get(key) ?? unitOf.get(word.toLowerCase()) ?? cjkUnit(word);
    const near = words === 0 && clause.slice(0, index).length <= 1;
    if (unit !== undefined && (near || !attachedOnly.has(key))) return unit;
    words += 1;
    if (words >= unitReach) return null;
  }
  return null;
}

/** In scripts without spaces the unit is the beginning of the run of letters. */
function cjkUnit(word: string): string | undefined {
  if (!/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) return undefined;
  for (const length of [2, 1]) {
    const unit = unitOf.get([...word].slice(0, length).join(""));
    if (unit !== undefined) return unit;
  }
  return undefined;
}

import type { MailWords } from "./mail-words.ts";
import { mailWordsOf } from "./mail-words.ts";

// The block of fields that mail programs put above an earlier mail, whether it is answered or forwarded.

export const phrases = (list: keyof MailWords): string => `(?:${mailWordsOf(list)})`;

const dashes = new RegExp(`^[ \\t>]{0,8}[-_=]{2,}[ \\t]{0,3}${phrases("original")}[ \\t]{0,3}[-_=]{2,}`, "iu");
/** Any words between dashes: the block right below shows that they mean the original mail. */
const dashed = /^[ \t>]{0,8}[-_=]{3,}[ \t]{0,3}\p{L}[^\n]{2,40}?[ \t]{0,3}[-_=]{3,}[ \t]{0,3}$/u;

/** The block of fields that mail programs put above an earlier mail. */
export const sender = new RegExp(`^[ \\t>*]{0,8}${phrases("from")}\\*?[ \\t]{0,3}[:：]\\*?[ \\t]{0,3}\\S`, "iu");
export const field = new RegExp(`^[ \\t>*]{0,8}(?:${phrases("from")}|${phrases("fields")})\\*?[ \\t]{0,3}[:：]`, "iu");

/** A time to the minute, which mail programs write and people rarely do. */
export const timeOfDay =
  /(?:^|[^\d.])(?:[01]?\d|2[0-4])[:：h][0-5]\d|(?:^|[^\p{L}])(?:kl|klo|um|ore|alle|om|at)\.?[ \t]{1,3}\d{1,2}\.[0-5]\d|[上下]午|\d[时時]|(?:오전|오후) \d/iu;

/** Some programs put a blank line below each field. */
export const blockLinesMax = 12;
const blockFieldsMin = 3;

/** Whether Outlook's block above an answered or forwarded mail starts here. */
export function opensBlock(lines: readonly string[], at: number): boolean {
  if ((lines[at] ?? "").length > 1_000) return false;
  const line = plainly(lines[at]);
  return (
    dashes.test(line) || (dashed.test(line) && isBlock(lines, at + 1)) || isOutlookRule(lines, at) || isBlock(lines, at)
  );
}

/** A line of underscores with the block right below it. */
function isOutlookRule(lines: readonly string[], at: number): boolean {
  return /^[ \t]{0,3}_{10,}[ \t]{0,3}$/.test(lines[at] ?? "") && (isBlock(lines, at + 1) || isBlock(lines, at + 2));
}

function isBlock(lines: readonly string[], at: number): boolean {
  if (!field.test(plainly(lines[at]))) return false;
  const below = lines.slice(at, at + blockLinesMax).map((line) => plainly(line).replace(/^[ \t>]+$/, ""));
  const together = below.slice(
    0,
    firstAt(below, (line) => line === ""),
  );
  const isGap = (index: number): boolean => index % 2 === 1;
  const apart = below
    .slice(
      0,
      firstAt(below, (line, index) => (line === "") !== isGap(index)),
    )
    .filter((_line, index) => !isGap(index));
  return [together, apart].some(
    (block) =>
      block.some((line) => sender.test(line)) &&
      // A journey has these fields too: "From: Berlin, to: Hamburg, date: 3 May".
      block.some((line) => line.includes("@") || timeOfDay.test(line)) &&
      block.filter((line) => field.test(line)).length >= blockFieldsMin,
  );
}

/** The index of the first such line, or the number of lines. */
function firstAt(lines: readonly string[], is: (line: string, index: number) => boolean): number {
  const at = lines.findIndex(is);
  return at === -1 ? lines.length : at;
}

export const isQuoted = (line: string): boolean => /^[ \t]{0,3}[>|＞]/.test(line) && !/^\|.*\|$/.test(line);

/** For comparisons: without the marks of directions, and with plain spaces. Bounded, since lines can be long. */
export const plainly = (line = ""): string =>
  line
    .slice(0, 400)
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "")
    .replaceAll(/[\u00a0\u2007\u202f\u3000]/g, " ");

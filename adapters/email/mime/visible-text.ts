import type { MailWords } from "./mail-words.ts";
import { mailWordsOf, signingApps } from "./mail-words.ts";

/** The new text of a mail, without quoted mails and signature. */
export interface VisibleText {
  readonly text: string;
  /** False: nothing but quoted mails or a signature, which is kept as it is. */
  readonly isWritten: boolean;
}

const linesMax = 5_000;
const textMax = 64 * 1024;

/**
 * Scans the lines once from the top. The first line that opens a quoted mail ends the text, except for answers between
 * quoted lines. If nothing would remain, the whole text is kept. In a forward, Outlook's quoted block belongs to the text.
 */
export function visibleText(given: string, isForward = false): VisibleText {
  const lines = given.slice(0, textMax).replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n").slice(0, linesMax);
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (opensForwarded(line) || (isForward && opensBlock(lines, at))) {
      kept.push(...lines.slice(at));
      break;
    }
    if (opensQuoted(lines, at)) {
      // Keep answers below or between the quoted lines.
      kept.push(...unquotedAfter(lines, at));
      break;
    }
    if (isSignature(lines, at)) break;
    if (isQuoted(line)) continue;
    kept.push(line);
  }
  const text = tidy(kept);
  return text === "" ? { text: tidy(lines), isWritten: false } : { text, isWritten: true };
}

const tidy = (lines: readonly string[]): string =>
  lines
    .join("\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();

const isQuoted = (line: string): boolean => /^[ \t]{0,3}[>|＞]/.test(line) && !/^\|.*\|$/.test(line);

const phrases = (list: keyof MailWords): string => `(?:${mailWordsOf(list)})`;

const marker = new RegExp(`^[ \\t]{0,8}[#*=_-]{2,}.{0,20}${phrases("replyAbove")}`, "iu");
const dashes = new RegExp(`^[ \\t>]{0,8}[-_=]{2,}[ \\t]{0,3}${phrases("original")}[ \\t]{0,3}[-_=]{2,}`, "iu");
/** Any words between dashes: the block right below shows that they mean the original mail. */
const dashed = /^[ \t>]{0,8}[-_=]{3,}[ \t]{0,3}\p{L}[^\n]{2,40}?[ \t]{0,3}[-_=]{3,}[ \t]{0,3}$/u;

/** The block of fields that mail programs put above an earlier mail. */
const sender = new RegExp(`^[ \\t>*]{0,8}${phrases("from")}\\*?[ \\t]{0,3}[:：]\\*?[ \\t]{0,3}\\S`, "iu");
const field = new RegExp(`^[ \\t>*]{0,8}(?:${phrases("from")}|${phrases("fields")})\\*?[ \\t]{0,3}[:：]`, "iu");

/** The end of the lines that announce a quoted mail: "… wrote:", "… schrieb Ada:", or an address. */
const attributionEnd = new RegExp(
  `(?:${phrases("wrote")}(?:[^:：.!?]{0,60}|[^:：]{0,80}[<([][^<>\\s@]{1,190}@[^<>\\s@]{1,190}[>)\\]])|<[^<>\\s@]{1,190}@[^<>\\s@]{1,190}>)[ \\t]{0,3}[:：][ \\t]{0,3}$|${phrases("wrote")}[ \\t]{0,3}-{2,}[ \\t]{0,3}$`,
  "iu",
);
const attributionStart = new RegExp(
  `^[ \\t-]{0,8}(?:${phrases("begins")}(?![\\p{L}])|\\d{1,4}[ ./年년-]|\\p{L}{2,12}[.,]{0,2} \\d|\\S{1,60}@|"?[\\p{L} .,&'-]{2,60}"?[ \\t]{0,3}[<([]\\S{1,60}@|(?:[\\p{L}.&'-]{1,30} ){1,5}${phrases("wrote")})`,
  "iu",
);
const address = /<[^<>\s@]{1,190}@[^<>\s@]{1,190}>|mailto:/u;
const looseAddress = /[([][^()[\]\s@]{1,190}@[^()[\]\s@]{1,190}[)\]]/u;
/** People write of themselves, mail programs do not: "On Monday at 10:30 I wrote to you:". */
const writer =
  /(?<!\p{L})(?:i|me|my|we|us|our|ich|wir|mir|uns|ik|wij|mij|j['’]ai|vous ai|nous ai|nous avons|jeg|jag|vi|yo|mi|eu|io|ho|minä|я|мы)(?!\p{L})/iu;
const attributionLinesMax = 4;
/** Some programs put a blank line below each field. */
const blockLinesMax = 12;
const blockFieldsMin = 3;
const attributionCharactersMax = 320;
/** A time to the minute, which mail programs write and people rarely do. */
const timeOfDay =
  /(?:^|[^\d.])(?:[01]?\d|2[0-4])[:：h][0-5]\d|(?:^|[^\p{L}])(?:kl|klo|um|ore|alle|om|at)\.?[ \t]{1,3}\d{1,2}\.[0-5]\d|[上下]午|\d[时時]|(?:오전|오후) \d/iu;

function opensQuoted(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.length > 1_000) return false;
  return marker.test(plainly(line)) || opensBlock(lines, at) || isAttribution(lines, at);
}

/** Whether Outlook's block above an answered or forwarded mail starts here. */
function opensBlock(lines: readonly string[], at: number): boolean {
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

/** Whether the lines from `at` on announce a quoted mail. A wrapped announcement has up to four lines. */
function isAttribution(lines: readonly string[], at: number): boolean {
  let all = "";
  for (let end = at; end < Math.min(at + attributionLinesMax, lines.length); end += 1) {
    const line = plainly(lines[end]);
    if (line.trim() === "" || isQuoted(line)) return false;
    all = all === "" ? line : `${all.trimEnd()}${all.endsWith("<") ? "" : " "}${line.trimStart()}`;
    if (all.length > attributionCharactersMax) return false;
    if (!attributionEnd.test(all)) continue;
    // A person may write "On the 12th your colleague wrote:", so a time, an address or a quoted line must follow.
    const next = lines.slice(end + 1).find((each) => each.trim() !== "");
    const isProven =
      address.test(all) ||
      (next !== undefined && isQuoted(next)) ||
      ((timeOfDay.test(all) || looseAddress.test(all)) && !writer.test(all));
    return isProven && attributionStart.test(all);
  }
  return false;
}

const forwarded = new RegExp(
  `^[ \\t>]{0,8}[-_]{2,}[ \\t]{0,3}${phrases("forwarded")}[ \\t]{0,3}[-_]{2,}|^${phrases("forwarded")}[ \\t]{0,3}:`,
  "iu",
);

/** Starts a forwarded mail, which belongs to the text. */
const opensForwarded = (line: string): boolean => forwarded.test(plainly(line).slice(0, 200));

/** The unquoted lines after the line that opens a quoted mail; none if quoted lines are not marked. */
function unquotedAfter(lines: readonly string[], at: number): readonly string[] {
  let start = at;
  while (start < lines.length && start < at + attributionLinesMax && !isQuoted(lines[start] ?? "")) start += 1;
  if (!isQuoted(lines[start] ?? "")) return [];
  const rest = lines.slice(start);
  const own: string[] = [];
  for (const [index, line] of rest.entries()) {
    if (isQuoted(line)) continue;
    if (isSignature(rest, index) || opensForwarded(line)) break;
    own.push(line);
  }
  // Only blank lines are no answer.
  return own.some((line) => line.trim() !== "") ? own : [];
}

/** A long line of underscores parts two passages as well. */
const signatureLine = /^(?:--[ \t]?|_{2,4}[ \t]?|—[ \t]?)$/;
const app = `(?<!\\p{Script=Latin})(?:${signingApps})`;
/** "Sent from my iPhone": the word for "sent" begins or ends the line, beside a device or an app. */
const appSignature = new RegExp(
  `^[ \\t]{0,3}(?:${phrases("sent")})(?!\\p{Script=Latin}).{0,25}${app}[^.?!:,]{0,30}[.!]?$|^[^.?!:,]{0,20}${app}[^.?!:,]{0,20}${phrases("sentLast")}$|^von meinem .{1,30} gesendet$`,
  "iu",
);
/** "Get Outlook for iOS", in any language. */
const outlook = /^(?=.*outlook)(?=.*(?:ios|android))[^.?!:,]{1,45}$/iu;

/** A line that opens a signature, with only a few lines below it. */
function isSignature(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.length > 200 || !(signatureLine.test(line) || isAppSignature(line))) return false;
  if (/^--[ \t]?$/.test(line)) return true;
  const below = lines.slice(at + 1);
  // "Sent from my iPhone" precedes the quoted mail or ends the mail.
  for (const [index, next] of below.entries()) {
    if (next.trim() === "") continue;
    if (isQuoted(next) || opensQuoted(below, index)) return unquotedAfter(below, index).length === 0;
    const rest = below.slice(index).filter((each) => each.trim() !== "");
    // An app writes its signature below everything else.
    return index <= 12 && (signatureLine.test(line) ? rest.length <= 8 : rest.every(isAppSignature));
  }
  return true;
}

/** A link of the app may follow: "Get Outlook for iOS<https://…>". */
function isAppSignature(line: string): boolean {
  const said = plainly(line)
    .replaceAll(/[<([]https?:\/\/\S{1,150}[>)\]]/g, "")
    .trim();
  return said.length <= 90 && (appSignature.test(said) || outlook.test(said));
}

/** For comparisons: without the marks of directions, and with plain spaces. Bounded, since lines can be long. */
const plainly = (line = ""): string =>
  line
    .slice(0, 400)
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "")
    .replaceAll(/[\u00a0\u2007\u202f\u3000]/g, " ");

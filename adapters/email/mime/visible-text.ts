import type { ForwardedMail } from "./forwarded-mail.ts";
import { isForwardMark, openForward } from "./forwarded-mail.ts";
import { signingApps } from "./mail-words.ts";
import { isQuoted, opensBlock, phrases, plainly, timeOfDay } from "./quoted-block.ts";

/** The new text of a mail, without quoted mails and signature. */
export interface VisibleText {
  /** The sender's own words. */
  readonly text: string;
  /** Mails that the sender forwards. One that names the sender as its author may be forged, so it is here too. */
  readonly forwarded: readonly ForwardedMail[];
  /** False: nothing but quoted mails or a signature, which is kept as it is. */
  readonly isWritten: boolean;
}

export interface VisibleTextOptions {
  /** The subject says that the mail is a forward. */
  readonly isForward?: boolean;
}

const linesMax = 5_000;
const textMax = 64 * 1024;
/** More than people forward in one mail. */
const forwardsMax = 20;

/**
 * Scans the lines once from the top. The first line that opens a quoted mail ends the text, except for answers between
 * quoted lines. If nothing would remain, the whole text is kept. In a forward, Outlook's block opens the forwarded mail.
 */
export function visibleText(given: string, { isForward = false }: VisibleTextOptions = {}): VisibleText {
  const whole = given.slice(0, textMax).replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n").slice(0, linesMax);
  const own: string[] = [];
  const forwarded: ForwardedMail[] = [];
  let lines: readonly string[] = whole;
  let forwards = 0;
  let signatures = signaturesIn(lines);
  let inSignature = false;
  for (let at = 0; at < lines.length; at += 1) {
    const opened = forwards < forwardsMax ? openForward(lines, at, isForward) : undefined;
    if (opened !== undefined) {
      forwards += 1;
      const { from, mail, below } = opened;
      const text = tidy(mail);
      if (text !== "") forwarded.push({ text, ...(from === undefined ? {} : { from }) });
      lines = below;
      signatures = signaturesIn(lines);
      inSignature = false;
      at = -1;
      continue;
    }
    if (opensQuoted(lines, at)) {
      // Keep answers below or between the quoted lines.
      if (!inSignature) own.push(...unquotedAfter(lines, at, signatures));
      break;
    }
    const line = lines[at] ?? "";
    // A forwarded mail may follow the signature.
    inSignature ||= signatures[at] === true;
    if (!inSignature && !isQuoted(line)) own.push(line);
  }
  const text = tidy(own);
  if (text !== "" || forwarded.length > 0) return { text, forwarded, isWritten: true };
  return { text: tidy(whole), forwarded, isWritten: false };
}

const tidy = (lines: readonly string[]): string =>
  lines
    .join("\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();

const marker = new RegExp(`^[ \\t]{0,8}[#*=_-]{2,}.{0,20}${phrases("replyAbove")}`, "iu");

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
const attributionCharactersMax = 320;

function opensQuoted(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.length > 1_000) return false;
  return marker.test(plainly(line)) || opensBlock(lines, at) || isAttribution(lines, at);
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

/** The unquoted lines after the line that opens a quoted mail; none if quoted lines are not marked. */
function* unquotedAfter(lines: readonly string[], at: number, signatures: readonly boolean[]): Generator<string> {
  let start = at;
  while (start < lines.length && start < at + attributionLinesMax && !isQuoted(lines[start] ?? "")) start += 1;
  if (!isQuoted(lines[start] ?? "")) return;
  for (let index = start; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    if (isQuoted(line)) continue;
    if (signatures[index] === true || isForwardMark(lines, index)) return;
    yield line;
  }
}

const signatureLinesMax = 8;
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

/**
 * Whether each line opens a signature. Reads the lines from the bottom, so that a line can ask for the signatures below it
 * in linear time.
 */
function signaturesIn(lines: readonly string[]): readonly boolean[] {
  const signatures = lines.map(() => false);
  let next = lines.length;
  let areAppsBelow = true;
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? "";
    if (line.trim() === "") continue;
    const isApp = isAppSignature(line);
    signatures[at] =
      line.length <= 200 &&
      (isApp || signatureLine.test(line)) &&
      isLast(lines, at, { next, signatures, areAppsBelow });
    areAppsBelow &&= isApp;
    next = at;
  }
  return signatures;
}

interface Below {
  /** The next line that is not blank. */
  readonly next: number;
  readonly signatures: readonly boolean[];
  /** No line below is more than the signature of an app. */
  readonly areAppsBelow: boolean;
}

/** Whether a signature that this line may open has only a few lines below it. */
function isLast(lines: readonly string[], at: number, { next, signatures, areAppsBelow }: Below): boolean {
  const line = lines[at] ?? "";
  const below = lines[next];
  if (below === undefined || /^--[ \t]?$/.test(line) || isForwardMark(lines, next)) return true;
  // "Sent from my iPhone" precedes the quoted mail or ends the mail.
  if (isQuoted(below) || opensQuoted(lines, next)) {
    return unquotedAfter(lines, next, signatures).every((each) => each.trim() === "");
  }
  if (next - at - 1 > 12) return false;
  // An app writes its signature below everything else.
  if (!signatureLine.test(line)) return areAppsBelow;
  let count = 0;
  for (let index = next; index < lines.length && count <= signatureLinesMax; index += 1) {
    if ((lines[index] ?? "").trim() !== "") count += 1;
  }
  return count <= signatureLinesMax;
}

/** A link of the app may follow: "Get Outlook for iOS<https://…>". */
function isAppSignature(line: string): boolean {
  const said = plainly(line)
    .replaceAll(/[<([]https?:\/\/\S{1,150}[>)\]]/g, "")
    .trim();
  return said.length <= 90 && (appSignature.test(said) || outlook.test(said));
}

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

/** "Reply above this line", as help desks write it. */
const marker =
  /^[ \t]{0,8}[#*=_-]{2,}.{0,20}(?:reply above|respond above|type your reply|antworten sie oberhalb|répondez au-dessus)/i;

const dashes =
  /^[ \t>]{0,8}[-_]{2,}[ \t]{0,3}(?:original (?:message|appointment)|ursprüngliche (?:nachricht|mail)|originalnachricht|message d'origine|message original|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht|original meddelelse|ursprungligt meddelande|oprindelig meddelelse|alkuperäinen viesti|wiadomość oryginalna|исходное сообщение|原始邮件|元のメッセージ|原始郵件)[ \t]{0,3}[-_]{2,}/i;

/** The first field of the block that Outlook puts above a quoted mail, by language. */
const blockFirst =
  /^[ \t>*]{0,8}(?:from|von|de|da|van|från|fra|od|от|lähettäjä|发件人|寄件者|差出人)[ \t]{0,3}[:：]\*?[ \t]?\S/i;
const blockNext =
  /^[ \t>*]{0,8}(?:sent|date|to|subject|cc|gesendet|datum|an|betreff|envoyé|à|objet|enviado|fecha|para|asunto|inviato|data|a|oggetto|verzonden|aan|onderwerp|skickat|till|ämne|sendt|til|emne|wysłano|do|temat|отправлено|кому|тема|lähetetty|vastaanottaja|aihe|发送时间|收件人|主题|寄件日期|收件者|主旨|送信日時|宛先|件名)[ \t]{0,3}[:：]/i;

/** The end of the line that announces a quoted mail. It may be wrapped into up to four lines. */
const attributionEnd =
  /(?:wrote|writes|schrieb[^:]{0,80}|a écrit|escribió|ha scritto|escreveu|schreef[^:]{0,80}|skrev[^:]{0,80}|kirjoitti[^:]{0,80}|napisał\(?a?\)?|napsal[^:]{0,40}|пишет|написал[аи]?|写道|寫道|のメール|<[^<>\s]{1,190}@[^<>\s]{1,190}>)[ \t]{0,3}[:：][ \t]{0,3}$/i;
const attributionStart =
  /^[ \t]{0,8}(?:on|am|le|el|il|em|op|den|dne|dnia|w dniu|\d{1,4}[./年-]\d{1,2}|(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|пн|вт|ср|чт|пт|сб|вс)[a-zäöü]{0,8}[.,]|\S{1,60}@|"?[\p{L} .,'-]{2,60}"?[ \t]{0,3}<?\S{1,60}@|在|于|[\p{L}.'-]{1,30}(?: [\p{L}.'-]{1,30}){0,3} (?:wrote|schrieb|skrev|schreef|a écrit))/iu;
const attributionLinesMax = 4;
/** A time to the minute, which mail programs write and people rarely do. */
const timeOfDay =
  /(?:^|[^\d.])(?:[01]?\d|2[0-4])[:：h][0-5]\d|\b(?:kl|klo|um|ore|alle|om|at)\.?[ \t]{1,3}\d{1,2}\.[0-5]\d|[上下]午|\d[时時]/iu;

function opensQuoted(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.length > 1_000) return false;
  return marker.test(line) || opensBlock(lines, at) || isAttribution(lines, at);
}

/** Whether Outlook's block above an answered or forwarded mail starts here. */
function opensBlock(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  return line.length <= 1_000 && (dashes.test(line) || isOutlookRule(lines, at) || isBlock(lines, at));
}

/** A line of underscores with the block right below it. */
function isOutlookRule(lines: readonly string[], at: number): boolean {
  return /^[ \t]{0,3}_{10,}[ \t]{0,3}$/.test(lines[at] ?? "") && (isBlock(lines, at + 1) || isBlock(lines, at + 2));
}

function isBlock(lines: readonly string[], at: number): boolean {
  if (!blockFirst.test((lines[at] ?? "").slice(0, 300))) return false;
  let fields = 0;
  for (const next of lines.slice(at + 1, at + 6)) if (blockNext.test(next.slice(0, 300))) fields += 1;
  return fields >= 2;
}

function isAttribution(lines: readonly string[], at: number): boolean {
  if (!attributionStart.test((lines[at] ?? "").slice(0, 300))) return false;
  for (let end = at; end < Math.min(at + attributionLinesMax, lines.length); end += 1) {
    const line = (lines[end] ?? "").slice(0, 300);
    if (end > at && line.trim() === "") return false;
    if (isQuoted(line)) return false;
    if (!attributionEnd.test(line)) continue;
    // A person may write "On the 12th your colleague wrote:", so a time, an address or a quoted line must follow.
    const all = lines.slice(at, end + 1).join(" ");
    const next = lines.slice(end + 1).find((each) => each.trim() !== "");
    return timeOfDay.test(all) || all.includes("@") || (next !== undefined && isQuoted(next));
  }
  return false;
}

const forwarded =
  /^[ \t>]{0,8}[-_]{2,}[ \t]{0,3}(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|doorgestuurd bericht|mensagem encaminhada|vidarebefordrat meddelande)[ \t]{0,3}[-_]{2,}|^begin forwarded message:|^anfang der weitergeleiteten nachricht:/i;

/** Starts a forwarded mail, which belongs to the text. */
const opensForwarded = (line: string): boolean => forwarded.test(line.slice(0, 200));

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

const signatureLine =
  /^(?:--[ \t]?|__+[ \t]?|—[ \t]?)$|^[ \t]{0,3}(?:sent from (?:my|outlook|mail|yahoo|proton|samsung|gmail)|get outlook for|von meinem .{1,30} gesendet|gesendet (?:mit|von) (?:meinem|der|outlook|mail|web)|envoyé (?:de|depuis) mon|enviado (?:desde|do|de) (?:mi|meu)|inviato da(?:l mio)? |verzonden (?:vanaf|met) (?:mijn|outlook)|skickat från (?:min|outlook)|отправлено (?:с|из) |从我的.{1,20}发送|发自我的|iphoneから送信|diese nachricht wurde von meinem)/i;

/** A line that opens a signature, with only a few lines below it. */
function isSignature(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.length > 200 || !signatureLine.test(line)) return false;
  if (/^--[ \t]?$/.test(line)) return true;
  const below = lines.slice(at + 1);
  // "Sent from my iPhone" precedes the quoted mail or ends the mail.
  for (const [index, next] of below.entries()) {
    if (next.trim() === "") continue;
    if (isQuoted(next) || opensQuoted(below, index)) return unquotedAfter(below, index).length === 0;
    return index > 12 ? false : below.slice(index).filter((each) => each.trim() !== "").length <= 8;
  }
  return true;
}

import { htmlText } from "#channels/text/html-text.ts";
import type { Mail, MailText } from "../mime/mail.ts";
import { visibleText } from "../mime/visible-text.ts";

const textMax = 20_000;
const originalMax = 32_000;

export interface TextOptions {
  readonly isForward: boolean;
  /** Attached mails belong to the text too. An agent's mail goes on to the customer without them. */
  readonly hasAttachedMails: boolean;
}

/** `whole`: all text of the mail. `text`: the same without quoted mails. */
export function textsOf(mail: Mail, options: TextOptions): { readonly whole: string; readonly text: string } {
  const pieces = mail.texts
    .filter(({ kind }) => kind !== "mail" || options.hasAttachedMails)
    .map((text) => pieceOf(text, options.isForward))
    .filter(({ whole }) => whole !== "");
  const written = pieces.filter(({ isWritten }) => isWritten);
  const own = (written.length > 0 ? written : pieces).map(({ text }) => text).join("\n\n");
  return { whole: pieces.map(({ whole }) => whole).join("\n\n"), text: withoutMarks(own, mail.attachments) };
}

interface Piece {
  readonly whole: string;
  readonly text: string;
  /** False: quoted mails or a signature alone. */
  readonly isWritten: boolean;
}

function pieceOf(given: MailText, isForward: boolean): Piece {
  if (given.kind !== "html") {
    const whole = given.text.replaceAll("\r\n", "\n").trim();
    if (given.kind !== "plain") return { whole, text: whole, isWritten: true };
    const { text, isWritten } = visibleText(whole, isForward);
    return { whole, text, isWritten };
  }
  const { text: whole, written } = htmlText(given.text);
  // When the HTML marks everything as quoted, or the mail is a forward, the lines themselves decide.
  const isQuoted = written.trim() === "";
  const { text, isWritten } = visibleText(isQuoted || isForward ? whole : written, isForward);
  return { whole, text, isWritten: isWritten && (!isQuoted || isForward) };
}

/** How mail programs begin the subject of a forward. */
export const forwardSubject = /^(?:fwd?|wg|tr|rv|enc|vb|vl|pd|doorst|转发|轉寄|転送)[ \t]{0,3}[:：]/i;

/** Mail programs write the name or number of an inline picture in its place. The picture is attached, so that is removed. */
function withoutMarks(text: string, attachments: Mail["attachments"]): string {
  const names = new Set(attachments.map(({ name }) => name));
  if (names.size === 0) return text;
  return text
    .replaceAll(/[ \t]{0,8}\[(?:cid:[^\]\s]{1,300}|(?:image: )?([^[\]\n]{1,200}))\]/g, (mark, name?: string) =>
      name === undefined || names.has(name) ? "" : mark,
    )
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

const subjectMarks =
  /^(?:(?:re|aw|antw|antwort|sv|vs|res|réf|rép|rif|odp|ynt|fwd?|wg|tr|rv|enc|vb|vl|pd|doorst|回复|回覆|答复|返信|转发|轉寄|転送)\s{0,3}(?:\[\d{1,3}\])?\s{0,3}[:：]\s{0,5}){1,20}/iu;

/** Without the marks of replies and forwards. */
export const baseSubject = (subject: string): string => subject.replace(subjectMarks, "").trim();

/** `begins`: the subject is part of the message. `text`: the message. `original`: the whole text, if it is longer. */
export function messageText(
  mail: Mail,
  { begins, ...options }: TextOptions & { readonly begins: boolean },
): { readonly text: string; readonly original: string | undefined } {
  const { whole, text: written } = textsOf(mail, options);
  const subject = baseSubject(mail.subject);
  const cut =
    written.length > textMax ? `${written.slice(0, textMax).toWellFormed()}\n\n[The e-mail goes on.]` : written;
  const named = subject !== "" && (begins || cut === "") && !cut.toLowerCase().includes(subject.toLowerCase());
  const files = mail.attachments.length > 0;
  const text = [
    ...(named ? [subject] : []),
    ...(cut === "" ? [] : [cut]),
    ...(mail.isSigned ? ["[This e-mail was signed. Its signature was not checked.]"] : []),
    ...(isEncrypted(mail) ? ["[This e-mail is encrypted, and cannot be read here.]"] : []),
    ...(mail.lacks === null ? [] : [`[${mail.lacks}]`]),
  ].join("\n\n");
  return {
    text: text === "" && !files ? "[This e-mail has no text.]" : text,
    original: whole === written ? undefined : whole.slice(0, originalMax).toWellFormed(),
  };
}

const isEncrypted = (mail: Mail): boolean =>
  !mail.isSigned &&
  mail.headers.some(
    ({ name, value }) =>
      name === "content-type" &&
      /^(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime)/i.test(value) &&
      !/signed-data/i.test(value),
  );

import type { Forwarded } from "#channels/contract.ts";
import { forwardedText } from "#channels/text/forwarded.ts";
import { htmlText } from "#channels/text/html-text.ts";
import type { ForwardedMail } from "../mime/forwarded-mail.ts";
import type { Mail, MailText } from "../mime/mail.ts";
import { mailWordsOf } from "../mime/mail-words.ts";
import type { VisibleText } from "../mime/visible-text.ts";
import { visibleText } from "../mime/visible-text.ts";

const textMax = 20_000;
const originalMax = 32_000;

export interface TextOptions {
  /** Forwarded and attached mails belong to the message. An agent's mail goes on to the customer without them. */
  readonly takesForwarded: boolean;
}

interface MailTexts extends VisibleText {
  /** All text of the mail. */
  readonly whole: string;
}

/** The mail's text without quoted mails, and the mails that it forwards. */
export function textsOf(mail: Mail, options: TextOptions): MailTexts {
  const pieces = mail.texts
    .filter(({ kind }) => kind !== "mail" || options.takesForwarded)
    .map((text) => pieceOf(text, mail.subject, options))
    .filter(({ whole }) => whole !== "");
  const written = pieces.filter(({ isWritten }) => isWritten);
  const own = (written.length > 0 ? written : pieces).map(({ text }) => text).filter((text) => text !== "");
  const forwarded = pieces.flatMap((piece) => piece.forwarded);
  const text = withoutMarks(own.join("\n\n"), mail.attachments);
  return {
    whole: pieces.map(({ whole }) => whole).join("\n\n"),
    text,
    isWritten: written.length > 0 && text !== "",
    forwarded: forwarded.map((each) => ({ ...each, text: withoutMarks(each.text, mail.attachments) })),
  };
}

interface Piece extends VisibleText {
  readonly whole: string;
}

function pieceOf(given: MailText, subject: string, { takesForwarded }: TextOptions): Piece {
  const isForward = takesForwarded && isForwardSubject(subject);
  const visible = (text: string): VisibleText => visibleText(text, { isForward });
  if (given.kind !== "html") {
    const whole = given.text.replaceAll("\r\n", "\n").trim();
    // Nothing in an attached mail is the sender's.
    if (given.kind === "mail") {
      const { text, forwarded } = visible(whole);
      return { whole, text: "", forwarded: [...forwarded, ...(text === "" ? [] : [{ text }])], isWritten: true };
    }
    return given.kind === "invitation"
      ? { whole, text: whole, forwarded: [], isWritten: true }
      : { whole, ...visible(whole) };
  }
  const { text: whole, written } = htmlText(given.text);
  const all = visible(whole);
  // Programs mark the fields above a forwarded mail as a quote, or all of it. In a reply, it is within the quoted mail.
  if (isForward || (all.forwarded.length > 0 && !replySubject.test(subject))) return { whole, ...all };
  // When the HTML marks everything as quoted, the lines themselves decide.
  return written.trim() === "" ? { whole, ...all, isWritten: false } : { whole, ...visible(written) };
}

const marksOf = (list: "forwards" | "replies"): string =>
  `(?:${mailWordsOf(list)})\\s{0,3}(?:\\[\\d{1,3}\\])?\\s{0,3}[:：]`;
const forwardSubject = new RegExp(`^${marksOf("forwards")}`, "iu");
const replySubject = new RegExp(`^${marksOf("replies")}`, "iu");
const subjectMarks = new RegExp(`^(?:(?:${marksOf("replies")}|${marksOf("forwards")})\\s{0,5}){1,20}`, "iu");

const isForwardSubject = (subject: string): boolean => forwardSubject.test(subject);

/** Without the marks of replies and forwards. */
export const baseSubject = (subject: string): string => subject.replace(subjectMarks, "").trim();

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

/** A message of a mail. */
export interface MailMessage {
  readonly text: string;
  readonly forwarded?: Forwarded;
  /** The whole text, if the message holds only part of it. */
  readonly original?: string;
  /** The sender has written nothing, neither as text nor as the subject of a mail without text, and forwards a mail or not. */
  readonly lacksWords?: "forward" | "other";
}

/** `begins`: the subject is part of the message. */
export function messageText(
  mail: Mail,
  { begins, ...options }: TextOptions & { readonly begins: boolean },
): MailMessage {
  const { whole, text: written, forwarded, isWritten } = textsOf(mail, options);
  const taken = options.takesForwarded || written === "" ? forwarded : [];
  const subject = baseSubject(mail.subject);
  const isSaid = [written, ...taken.map(({ text }) => text)].some((text) =>
    text.toLowerCase().includes(subject.toLowerCase()),
  );
  const named = subject !== "" && (begins || (written === "" && taken.length === 0)) && !isSaid;
  // The subject of a forward is that of the other mail.
  const isTheirs = taken.length > 0 && isForwardSubject(mail.subject);
  const theirs = taken.map((each, at) =>
    named && isTheirs && at === 0 ? { ...each, text: `${subject}\n\n${each.text}` } : each,
  );
  const own = [...(named && !isTheirs ? [subject] : []), ...(written === "" ? [] : [written])];
  const joined = joinedWith(own, theirs);
  const cut = joined.length > textMax ? `${joined.slice(0, textMax).toWellFormed()}\n\n[The e-mail goes on.]` : joined;
  const notes = [
    ...(mail.isSigned ? ["[This e-mail was signed. Its signature was not checked.]"] : []),
    ...(isEncrypted(mail) ? ["[This e-mail is encrypted, and cannot be read here.]"] : []),
    ...(mail.lacks === null ? [] : [`[${mail.lacks}]`]),
  ];
  const text = [...(cut === "" ? [] : [cut]), ...notes].join("\n\n");
  const files = mail.attachments.length > 0;
  const isForward = forwarded.length > 0 || isForwardSubject(mail.subject);
  const isSubject = !isForward && whole === "" && subject !== "";
  return {
    text: text === "" && !files ? "[This e-mail has no text.]" : text,
    ...(theirs.length === 0 ? {} : { forwarded: forwardOf(theirs, own.length > 0) }),
    ...(whole === written ? {} : { original: whole.slice(0, originalMax).toWellFormed() }),
    ...(isWritten || isSubject ? {} : { lacksWords: isForward ? "forward" : "other" }),
  };
}

const joinedWith = (own: readonly string[], theirs: readonly ForwardedMail[]): string =>
  [...own, ...theirs.map(({ text, from }) => (own.length === 0 ? text : forwardedText(text, from)))].join("\n\n");

/** Several mails have no common author. */
function forwardOf([first, ...others]: readonly ForwardedMail[], isBelow: boolean): Forwarded {
  const from = others.length === 0 ? first?.from : undefined;
  return { ...(from === undefined ? {} : { from }), ...(isBelow ? { isBelow: true } : {}) };
}

const isEncrypted = (mail: Mail): boolean =>
  !mail.isSigned &&
  mail.headers.some(
    ({ name, value }) =>
      name === "content-type" &&
      /^(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime)/i.test(value) &&
      !/signed-data/i.test(value),
  );

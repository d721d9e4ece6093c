import { htmlText } from "#channels/text/html-text.ts";
import type { Mail } from "../mime/mail.ts";
import { visibleText } from "../mime/visible-text.ts";

const textMax = 20_000;
const originalMax = 32_000;

/** `whole`: all text of the mail. `text`: the same without quoted mails. */
export function textsOf(mail: Mail, isForward: boolean): { readonly whole: string; readonly text: string } {
  const plain = (mail.text ?? "").replaceAll("\r\n", "\n").trim();
  if (plain !== "" || mail.html === null) {
    return { whole: plain, text: withoutMarks(visibleText(plain, isForward).text, mail.attachments) };
  }
  const { text, written } = htmlText(mail.html);
  // When the HTML marks everything as quoted, or the mail is a forward, the lines themselves decide.
  const own = visibleText(written.trim() === "" || isForward ? text : written, isForward);
  return { whole: text, text: withoutMarks(own.text, mail.attachments) };
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

/** `text`: the message. `original`: the whole text, if it is longer. */
export function messageText(
  mail: Mail,
  { begins, isForward }: { readonly begins: boolean; readonly isForward: boolean },
): { readonly text: string; readonly original: string | undefined } {
  const { whole, text: written } = textsOf(mail, isForward);
  const subject = mail.subject
    .replace(/^(?:(?:re|aw|sv|vs|antw|fwd?|wg|tr|rif|odp)\s{0,3}(?:\[\d{1,3}\])?\s{0,3}:\s{0,5}){1,20}/i, "")
    .trim();
  const cut =
    written.length > textMax ? `${written.slice(0, textMax).toWellFormed()}\n\n[The e-mail goes on.]` : written;
  const named = subject !== "" && (begins || cut === "") && !cut.toLowerCase().includes(subject.toLowerCase());
  const files = mail.attachments.length > 0;
  const text = [
    ...(named ? [subject] : []),
    ...(cut === "" ? [] : [cut]),
    ...(isEncrypted(mail) ? ["[This e-mail is encrypted, and cannot be read here.]"] : []),
    ...(mail.lacks === null ? [] : [`[${mail.lacks}]`]),
  ].join("\n\n");
  return {
    text: text === "" && !files ? "[This e-mail has no text.]" : text,
    original: whole === written ? undefined : whole.slice(0, originalMax).toWellFormed(),
  };
}

const isEncrypted = (mail: Mail): boolean =>
  mail.headers.some(
    ({ name, value }) =>
      name === "content-type" &&
      /^(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime)/i.test(value) &&
      !/signed-data/i.test(value),
  );

import libmime from "libmime";
import type { Address, Header, Mail } from "../mime/mail.ts";
import { headerNamed, headersNamed } from "../mime/mail.ts";

const listHeaders = new Set(["precedence", "list-id", "list-post", "list-unsubscribe", "mailing-list"]);

/**
 * A group of the company's own sends its customers' mails on to its members, of whom this mailbox is one. Returns the mail
 * with its author as the sender. Undefined: the mail is of no group, or of a group of others.
 */
export function groupSender(mail: Mail, isOwnAddress: (address: string) => boolean): Mail | undefined {
  const [, list] = /^list[ \t]{1,9}([^\s;]{1,190})/i.exec(headerNamed(mail, "mailing-list") ?? "") ?? [];
  const posts = headersNamed(mail, "list-post").flatMap((value) =>
    [...value.matchAll(/<mailto:([^>?\s]{1,190})/gi)].map(([, address]) => address ?? ""),
  );
  if (![...(list === undefined ? [] : [list]), ...posts].some(isOwnAddress)) return undefined;
  if (mail.from !== null && !isOwnAddress(mail.from.address)) return mail;
  const author = [
    addressIn(headerNamed(mail, "x-original-from")),
    ...mail.replyTo,
    addressIn(headerNamed(mail, "x-original-sender")),
  ].find((each) => each !== undefined && !isOwnAddress(each.address));
  return author === undefined ? undefined : { ...mail, from: author };
}

export const withoutList = (headers: readonly Header[]): readonly Header[] =>
  headers.filter(({ name }) => !listHeaders.has(name));

function addressIn(value: string | undefined): Address | undefined {
  const [, name = "", address] =
    /^(?:"?([^"<]{0,190})"?[ \t]{0,9}<)?([^\s<>"(),;:@]{1,90}@[^\s<>"(),;:@]{1,90})>?[ \t]{0,9}(?:$|\()/.exec(
      value?.trim() ?? "",
    ) ?? [];
  return address === undefined ? undefined : { address, name: libmime.decodeWords(name).trim() };
}

import libmime from "libmime";
import { htmlText } from "#channels/text/html-text.ts";
import { charsetOfHtml, charsetOfWords, decodeText } from "./charset.ts";
import { invitationText } from "./invitation.ts";
import type { Attachment, MailText } from "./mail.ts";
import type { MailPart } from "./parts.ts";
import { readParts } from "./parts.ts";
import { takePictures } from "./pictures.ts";
import { signedContent } from "./signed-content.ts";

/** Characters of each text part. */
const textMax = 1_000_000;
/** Signed data within signed data, and the like. */
const depthMax = 5;

interface BodyOptions {
  /** The subject as it was sent, with its encoded words. */
  readonly rawSubject: string;
  /** Reads an attached mail as text. */
  readonly readMailText: (raw: Buffer) => Promise<string>;
}

/** The visible texts of a mail, and its files. */
interface Found {
  readonly texts: readonly MailText[];
  readonly files: readonly FoundFile[];
  /** The signature was not checked. */
  readonly isSigned: boolean;
}

/** A file, and the bytes for files that are no part of the mail on the server. */
export type FoundFile = Omit<Attachment, "name"> & { readonly fileName: string | null; readonly content: Buffer };

const nothing: Found = { texts: [], files: [], isSigned: false };

/** Parts beside each other are joined in their order. A choice is made within multipart/alternative alone. */
export async function bodyOf(root: MailPart, { rawSubject, readMailText }: BodyOptions): Promise<Found> {
  const hint = charsetOfWords(rawSubject);

  async function walk(part: MailPart, isRelated: boolean, depth: number): Promise<Found> {
    if (part.mediaType.startsWith("multipart/")) {
      const related = isRelated || part.mediaType === "multipart/related";
      const found: Found[] = [];
      for (const child of part.parts) found.push(await walk(child, related, depth));
      return part.mediaType === "multipart/alternative"
        ? { ...joined(found), texts: chosen(found.map(({ texts }) => texts)) }
        : joined(found);
    }
    if (isSignedData(part) && depth < depthMax) {
      const signed = await unwrapped(part, depth);
      if (signed !== undefined) return signed;
    }
    const file = fileOf(part, isRelated);
    if (part.mediaType === "text/calendar") {
      const text = invitationText(decodeText(part.content, part.charset, hint));
      return { ...nothing, texts: text === null ? [] : [{ kind: "invitation", text }], files: [file] };
    }
    if (isMail(part)) {
      const text = await readMailText(part.content);
      return { ...nothing, texts: text === "" ? [] : [{ kind: "mail", text }], files: [file] };
    }
    return isBodyText(part) ? textOf(part) : { ...nothing, files: isFile(part) ? [file] : [] };
  }

  function textOf(part: MailPart): Found {
    if (part.content.length === 0) return nothing;
    const named = part.charset ?? (part.mediaType === "text/html" ? charsetOfHtml(part.content) : null);
    const decoded = decodeText(part.content, named, hint).replaceAll("\r\n", "\n").replaceAll("\0", "");
    if (part.mediaType === "text/html") {
      const { html, pictures } = takePictures(decoded);
      const files = pictures.map(({ mediaType, content }, nth) => ({
        ...fileOf(part, false),
        inline: false,
        fileName: `picture-${nth + 1}.${libmime.detectExtension(mediaType)}`,
        mediaType,
        content,
        bytes: content.length,
        nth,
      }));
      return { ...nothing, texts: [{ kind: "html", text: cut(html) }], files };
    }
    const text = part.flow === null ? decoded : libmime.decodeFlowed(decoded, part.flow.deletesSpaces);
    return { ...nothing, texts: [{ kind: "plain", text: cut(text) }] };
  }

  async function unwrapped(part: MailPart, depth: number): Promise<Found | undefined> {
    try {
      const content = signedContent(part.content);
      if (content === null) return undefined;
      const { texts, files } = await walk(await readParts(content), false, depth + 1);
      return { texts, files: files.map((file, nth) => ({ ...file, part: part.number, nth })), isSigned: true };
    } catch {
      // Damaged data stays a file.
      return undefined;
    }
  }

  return walk(root, false, 0);
}

/** The files within the bytes of one part: those within signed data, else the pictures within HTML. */
export async function filesWithin(content: Buffer): Promise<readonly FoundFile[]> {
  const isDer = content[0] === 0x30;
  const part = {
    ...emptyPart,
    mediaType: isDer ? "application/pkcs7-mime" : "text/html",
    content,
  };
  return (await bodyOf(part, { rawSubject: "", readMailText: async () => "" })).files;
}

const emptyPart: MailPart = {
  mediaType: "",
  charset: null,
  isAttachment: false,
  fileName: null,
  contentId: null,
  contentType: "",
  flow: null,
  number: "1",
  content: Buffer.alloc(0),
  parts: [],
};

const joined = (found: readonly Found[]): Found => ({
  texts: found.flatMap(({ texts }) => texts),
  files: found.flatMap(({ files }) => files),
  isSigned: found.some(({ isSigned }) => isSigned),
});

const cut = (text: string): string => text.slice(0, textMax).toWellFormed();

/** One of the alternatives: plain text, unless it only stands in for HTML. An invitation is added to it. */
function chosen(alternatives: readonly (readonly MailText[])[]): readonly MailText[] {
  const written = alternatives.filter((texts) => texts.some(({ text }) => text.trim() !== ""));
  const invitations = written.filter((texts) => texts.every(({ kind }) => kind === "invitation")).flat();
  const plain = written.find((texts) => texts.every(({ kind }) => kind === "plain"));
  const rich = written.findLast((texts) => texts.some(({ kind }) => kind === "html"));
  const best = plain === undefined || (rich !== undefined && isPlaceholder(plain, rich)) ? rich : plain;
  return [...(best ?? []), ...invitations];
}

const placeholderWordsMax = 60;

/** Alternatives say the same. A text that has less than half of its words from the HTML asks for another program or a browser. */
function isPlaceholder(plain: readonly MailText[], rich: readonly MailText[]): boolean {
  const own = wordsOf(plain);
  const all = wordsOf(rich);
  if (own.length * 5 < all.length) return true;
  const shown = new Set(all);
  const shared = own.filter((word) => shown.has(word));
  return all.length > 0 && own.length <= placeholderWordsMax && shared.length * 2 < own.length;
}

/** The text without tags, quoted mails included. */
export const readable = ({ kind, text }: MailText): string => (kind === "html" ? htmlText(text).text : text);

const wordsOf = (texts: readonly MailText[]): readonly string[] =>
  texts
    .map(readable)
    .join("\n")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

const isMail = ({ mediaType }: MailPart): boolean => /^message\/(?:rfc822|global)$/.test(mediaType);

/** A named part is a file, whatever its disposition. */
const isBodyText = ({ mediaType, fileName, isAttachment }: MailPart): boolean =>
  /^text\/(?:plain|html)$/.test(mediaType) && fileName === null && !isAttachment;

const isSignedData = ({ mediaType, contentType, fileName }: MailPart): boolean =>
  (/^application\/(?:x-)?pkcs7-mime$/.test(mediaType) ||
    (mediaType === "application/octet-stream" && /\.p7m$/i.test(fileName ?? ""))) &&
  !/enveloped-data|certs-only|compressed-data/i.test(contentType);

/** False for signatures and the machine-readable parts of reports. */
const isFile = ({ mediaType }: MailPart): boolean =>
  ![
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "application/pgp-signature",
    "application/pgp-encrypted",
    "message/delivery-status",
    "message/disposition-notification",
    "text/rfc822-headers",
  ].includes(mediaType);

function fileOf(part: MailPart, isRelated: boolean): FoundFile {
  const { fileName, mediaType, contentId, content, isAttachment, number } = part;
  const detected =
    mediaType === "application/octet-stream" && fileName !== null ? libmime.detectMimeType(fileName) : mediaType;
  return {
    part: number,
    nth: null,
    fileName,
    mediaType: /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(detected) ? detected : "application/octet-stream",
    bytes: content.length,
    inline: contentId !== null && (isRelated || !isAttachment),
    content,
  };
}

import { createHash } from "node:crypto";
import type { AddressObject, ParsedMail } from "mailparser";
import { simpleParser } from "mailparser";
import { tooComplex } from "./limits.ts";
import { declaredAsBytes, headersInUtf8, isDoubtful, repaired } from "./charset.ts";
import type { Address, Attachment, Mail } from "./mail.ts";
import { bodyStart, headerNamed, readHeaders } from "./mail.ts";

const addressesMax = 100;
const referencesMax = 100;
/** Characters of each text part. */
const textMax = 1_000_000;
const attachmentsMax = 100;
/** Larger mails are not parsed twice. */
const repairedMax = 5_000_000;
/** A parser that takes longer is assumed to hang. */
const parseMs = 20_000;

/** The fetched bytes of a mail. `raw` may be only its beginning. */
export interface Source {
  readonly raw: Buffer;
  /** The size of the whole mail. */
  readonly bytes: number;
}

/** Parses a mail. Never throws: if the mail cannot be parsed, only its headers are read. */
export async function readMail({ raw, bytes }: Source): Promise<Mail> {
  const complex = tooComplex(raw);
  // Headers alone suffice for subject, sender and references.
  const headOnly = raw.subarray(0, bodyStart(raw));
  let lacks = complex === undefined ? null : `The text of this e-mail could not be read: ${complex}.`;
  let parsed: ParsedMail;
  try {
    parsed = await parsedInTime(complex === undefined ? raw : headOnly);
  } catch {
    lacks = "The text of this e-mail could not be read: it is damaged, or too complex.";
    parsed = await parsedInTime(headOnly.subarray(0, 100_000)).catch(() => nothing);
  }
  if (lacks === null && raw.length < bytes) {
    lacks = `This e-mail has ${Math.round(bytes / 1_000_000)} MB; only its beginning was read.`;
  }
  const text = lacks === null ? await textOf(parsed, raw) : parsed;
  try {
    return { ...mailOf({ ...parsed, ...text }, raw), lacks };
  } catch {
    return { ...mailOf(nothing, raw), lacks: "This e-mail could not be read: it is damaged." };
  }
}

const nothing = { attachments: [], headers: new Map(), headerLines: [], html: false } as unknown as ParsedMail;

/** The texts, repaired if their declared charset is wrong. */
async function textOf(parsed: ParsedMail, raw: Buffer): Promise<Pick<ParsedMail, "text" | "html">> {
  const { text, html } = parsed;
  if (raw.length > repairedMax || ![text, html].some((each) => typeof each === "string" && isDoubtful(each))) {
    return parsed;
  }
  let bytes: ParsedMail;
  try {
    bytes = await parsedInTime(declaredAsBytes(raw, bodyStart(raw)));
  } catch {
    return parsed;
  }
  return {
    text: text === undefined || bytes.text === undefined ? text : repaired(text, bytes.text),
    html: typeof html !== "string" || typeof bytes.html !== "string" ? html : repaired(html, bytes.html),
  };
}

async function parsedInTime(raw: Buffer): Promise<ParsedMail> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("the parser does not end")), parseMs);
  try {
    return await Promise.race([
      simpleParser(headersInUtf8(raw, bodyStart(raw)), {
        skipHtmlToText: true,
        skipTextToHtml: true,
        skipImageLinks: true,
        skipTextLinks: true,
        keepCidLinks: true,
        keepDeliveryStatus: true,
      } as Parameters<typeof simpleParser>[1]),
      late.promise,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function mailOf(parsed: ParsedMail, raw: Buffer): Omit<Mail, "lacks"> {
  const headers = readHeaders(raw);
  const isMultipart = /^multipart\//i.test(headerNamed({ headers }, "content-type") ?? "");
  const status = parsed.attachments.find(({ contentType }) => contentType === "message/delivery-status");
  const returned = parsed.attachments.find(({ contentType }) =>
    ["message/rfc822", "message/global", "text/rfc822-headers", "message/rfc822-headers"].includes(contentType),
  );
  return {
    messageId: idsIn(parsed.messageId ?? "")[0] ?? null,
    from: addressesOf(parsed.from)[0] ?? null,
    replyTo: addressesOf(parsed.replyTo),
    to: addressesOf(parsed.to),
    cc: addressesOf(parsed.cc),
    subject: oneLine(parsed.subject ?? "").slice(0, 500),
    date: dateOf(parsed.date),
    references: referencesOf(parsed),
    headers,
    text: parsed.text === undefined ? null : parsed.text.slice(0, textMax).toWellFormed(),
    html: typeof parsed.html === "string" ? parsed.html.slice(0, textMax).toWellFormed() : null,
    attachments: parsed.attachments
      .filter(isFile)
      .slice(0, attachmentsMax)
      .map((attachment, index) => attachmentOf(attachment, index, !isMultipart)),
    report:
      status === undefined
        ? null
        : {
            status: status.content.toString("utf8").slice(0, 20_000),
            original: returned === undefined ? null : originalId(returned.content),
          },
    bodyHash: hashOf(raw.subarray(bodyStart(raw))),
  };
}

const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\r\n\t\0]+/g, " ")
    .trim();

function dateOf(date: Date | undefined): number | null {
  const at = date?.getTime() ?? Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function addressesOf(given: AddressObject | AddressObject[] | undefined): readonly Address[] {
  const found: Address[] = [];
  const visit = (value: AddressObject["value"]): void => {
    for (const { address, name, group } of value) {
      if (found.length >= addressesMax) return;
      if (group !== undefined) visit(group);
      else if (address !== undefined && isAddress(address)) found.push({ address, name: oneLine(name).slice(0, 190) });
    }
  };
  for (const each of given === undefined ? [] : [given].flat()) visit(each.value);
  return found;
}

/** Other characters could inject a header or an SMTP command. */
const isAddress = (address: string): boolean =>
  address.length <= 190 && /^[^\s<>"(),;:@]+@[^\s<>"(),;:@]+$/.test(address);

/** Message-IDs with angle brackets. Some mail programs omit the brackets. */
function idsIn(text: string): readonly string[] {
  const bracketed = text.match(/<[^<>\s]{1,900}>/g);
  if (bracketed !== null) return bracketed;
  const bare = text.trim();
  return /^[^\s<>]{1,900}$/.test(bare) ? [`<${bare}>`] : [];
}

function referencesOf({ inReplyTo, references }: ParsedMail): readonly string[] {
  const listed = [references ?? []].flat().flatMap(idsIn).toReversed();
  return [...new Set([...idsIn(inReplyTo ?? ""), ...listed])].slice(0, referencesMax);
}

/** False for signatures and the machine-readable parts of reports. */
function isFile({ contentType }: ParsedMail["attachments"][number]): boolean {
  return ![
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "application/pgp-signature",
    "application/pgp-encrypted",
    "message/delivery-status",
    "message/disposition-notification",
    "text/rfc822-headers",
  ].includes(contentType);
}

function attachmentOf(attachment: ParsedMail["attachments"][number], index: number, isWhole: boolean): Attachment {
  const { filename, contentType, size, related, contentDisposition, cid } = attachment;
  const { partId } = attachment as { readonly partId?: string | null };
  const kind = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(contentType) ? contentType : "application/octet-stream";
  return {
    // A mail without parts has its content as part 1.
    part: partId ?? (isWhole ? "1" : null),
    name: fileName(filename, kind, index),
    mediaType: kind,
    bytes: size,
    inline: related || (contentDisposition === "inline" && cid !== undefined),
  };
}

function fileName(given: string | undefined, mediaType: string, index: number): string {
  const name = oneLine(given ?? "")
    .split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/[\p{Cc}\p{Cf}<>:"|?*]/gu, "")
    .trim();
  if (name !== undefined && name !== "" && !/^\.+$/.test(name)) return name.slice(-150);
  if (mediaType === "message/rfc822") return `mail-${index + 1}.eml`;
  return `file-${index + 1}.${
    mediaType
      .split("/")[1]
      ?.replaceAll(/[^a-z0-9]/g, "")
      .slice(0, 10) ?? "bin"
  }`;
}

function originalId(content: Buffer): string | null {
  const id = readHeaders(content).find(({ name }) => name === "message-id")?.value;
  return id === undefined ? null : (idsIn(id)[0] ?? null);
}

/** Hashes the body without white space, which relays change. */
function hashOf(body: Buffer): string {
  const hash = createHash("sha256");
  let start = 0;
  for (let at = 0; at <= body.length; at += 1) {
    const byte = body[at];
    if (byte !== undefined && byte !== 0x0a && byte !== 0x0d && byte !== 0x20 && byte !== 0x09) continue;
    if (at > start) hash.update(body.subarray(start, at));
    start = at + 1;
  }
  return hash.digest("hex");
}

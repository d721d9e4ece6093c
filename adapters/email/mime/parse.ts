import { createHash } from "node:crypto";
import type { AddressObject, ParsedMail } from "mailparser";
import { simpleParser } from "mailparser";
import { bodyOf, readable } from "./body.ts";
import { headersInUtf8 } from "./charset.ts";
import { shortAddressFields, tooComplex } from "./limits.ts";
import type { Address, Mail } from "./mail.ts";
import { bodyStart, headerNamed, readHeaders } from "./mail.ts";
import type { MailPart } from "./parts.ts";
import { readParts } from "./parts.ts";

const addressesMax = 100;
const referencesMax = 100;
const attachmentsMax = 100;
/** Mails attached to attached mails. */
const attachedDepthMax = 3;
/** A parser that takes longer is assumed to hang. */
const parseMs = 20_000;

/** The fetched bytes of a mail. `raw` may be only its beginning. */
export interface Source {
  readonly raw: Buffer;
  /** The size of the whole mail. */
  readonly bytes: number;
}

/** Parses a mail. Never throws: if the mail cannot be parsed, only its headers are read. */
export async function readMail({ raw, bytes }: Source, depth = 0): Promise<Mail> {
  const start = bodyStart(raw);
  const complex = tooComplex(raw);
  let lacks = complex === undefined ? null : `The text of this e-mail could not be read: ${complex}.`;
  let [headers, tree] = [nothing, undefined as MailPart | undefined];
  try {
    headers = await inTime(readHead(raw.subarray(0, start)));
    if (complex === undefined) tree = await inTime(readParts(raw));
  } catch {
    lacks = "The text of this e-mail could not be read: it is damaged, or too complex.";
    headers = await inTime(readHead(raw.subarray(0, Math.min(start, 100_000)))).catch(() => nothing);
  }
  if (lacks === null && raw.length < bytes) {
    lacks = `This e-mail has ${Math.round(bytes / 1_000_000)} MB; only its beginning was read.`;
  }
  try {
    return { ...(await mailOf(headers, tree, raw, depth)), lacks };
  } catch {
    const mail = await mailOf(nothing, undefined, raw, depth);
    return { ...mail, lacks: "This e-mail could not be read: it is damaged." };
  }
}

const nothing = { attachments: [], headers: new Map(), headerLines: [], html: false } as unknown as ParsedMail;

/** Reads subject, addresses and references; the text is empty. */
const readHead = (head: Buffer): Promise<ParsedMail> => {
  const short = shortAddressFields(head);
  return simpleParser(headersInUtf8(short, short.length));
};

async function inTime<T>(reading: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("the parser does not end")), parseMs);
  try {
    return await Promise.race([reading, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function mailOf(
  parsed: ParsedMail,
  tree: MailPart | undefined,
  raw: Buffer,
  depth: number,
): Promise<Omit<Mail, "lacks">> {
  const headers = readHeaders(raw);
  const body = tree === undefined ? undefined : await readBody(tree, headerNamed({ headers }, "subject") ?? "", depth);
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
    texts: body?.texts ?? [],
    isSigned: body?.isSigned ?? false,
    attachments: (body?.files ?? [])
      .slice(0, attachmentsMax)
      .map(({ fileName, content: _, ...file }, index) => ({ ...file, name: nameOf(fileName, file.mediaType, index) })),
    report: tree === undefined ? null : reportOf(tree),
    bodyHash: hashOf(raw.subarray(bodyStart(raw))),
  };
}

const readBody = (tree: MailPart, rawSubject: string, depth: number) =>
  bodyOf(tree, {
    rawSubject,
    readMailText: async (raw) =>
      depth < attachedDepthMax ? forwardedText(await readMail({ raw, bytes: raw.length }, depth + 1)) : "",
  });

/** An attached mail as mail programs show a forward. */
function forwardedText(mail: Mail): string {
  const text = mail.texts.map(readable).join("\n\n").trim();
  if (text === "" && mail.subject === "") return "";
  const { from, to, subject, date } = mail;
  const fields = [
    ...(from === null ? [] : [`From: ${from.name === "" ? from.address : `${from.name} <${from.address}>`}`]),
    ...(date === null ? [] : [`Date: ${new Date(date).toUTCString()}`]),
    ...(subject === "" ? [] : [`Subject: ${subject}`]),
    ...(to.length === 0 ? [] : [`To: ${to.map(({ address }) => address).join(", ")}`]),
  ];
  return `---------- Forwarded message ----------\n${fields.join("\n")}\n\n${text}`;
}

function reportOf(tree: MailPart): Mail["report"] {
  const parts = allParts(tree);
  const status = parts.find(({ mediaType }) => mediaType === "message/delivery-status");
  if (status === undefined) return null;
  const returned = parts.find(({ mediaType }) => returnedTypes.includes(mediaType));
  return {
    status: status.content.toString("utf8").slice(0, 20_000),
    original: returned === undefined ? null : originalId(returned.content),
  };
}

const returnedTypes = ["message/rfc822", "message/global", "text/rfc822-headers", "message/rfc822-headers"];

const allParts = (part: MailPart): readonly MailPart[] => [part, ...part.parts.flatMap(allParts)];

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
      if (group !== undefined) {
        visit(group);
        continue;
      }
      const usable = address === undefined ? undefined : usableAddress(address);
      if (usable !== undefined) found.push({ address: usable, name: oneLine(name).slice(0, 190) });
    }
  };
  for (const each of given === undefined ? [] : [given].flat()) visit(each.value);
  return found;
}

/** Undefined for characters that could inject a header or an SMTP command. Local parts with spaces are quoted. */
function usableAddress(address: string): string | undefined {
  if (address.length > 190) return undefined;
  if (/^[^\s<>"(),;:@]+@[^\s<>"(),;:@]+$/.test(address)) return address;
  const [, local, domain] = /^"?([\x20-\x7e]+?)"?@([^\s<>"(),;:@]+)$/.exec(address) ?? [];
  return local === undefined || /["\\]/.test(local) ? undefined : `"${local}"@${domain ?? ""}`;
}

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

function nameOf(given: string | null, mediaType: string, index: number): string {
  const name = oneLine(given ?? "")
    .split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/[\p{Cc}\p{Cf}<>:"|?*]/gu, "")
    .trim();
  if (name !== undefined && name !== "" && !/^\.+$/.test(name)) return name.slice(-150);
  if (mediaType === "text/calendar") return index === 0 ? "invite.ics" : `invite-${index + 1}.ics`;
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

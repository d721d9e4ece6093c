import { Splitter } from "@zone-eu/mailsplit";
import type { MimeNode } from "@zone-eu/mailsplit";
import { boundariesIn } from "./limits.ts";
import { bodyStart } from "./mail.ts";

/** A node of a mail's tree of parts. */
export interface MailPart {
  /** In lower case, such as `text/plain`. */
  readonly mediaType: string;
  /** Null: not named. */
  readonly charset: string | null;
  readonly isAttachment: boolean;
  readonly fileName: string | null;
  readonly contentId: string | null;
  /** The whole value of Content-Type. */
  readonly contentType: string;
  readonly flow: { readonly deletesSpaces: boolean } | null;
  /** IMAP's number, such as `2.1`. A mail that is not divided is part 1. */
  readonly number: string;
  /** Decoded bytes. Empty for a part that has parts. */
  readonly content: Buffer;
  readonly parts: readonly MailPart[];
}

interface Growing extends Omit<MailPart, "parts" | "content"> {
  readonly node: MimeNode;
  readonly encoded: Buffer[];
  readonly parts: Growing[];
}

/** Reads the tree of a mail. Attached mails are leaves. */
export async function readParts(raw: Buffer): Promise<MailPart> {
  const splitter = new Splitter({ ignoreEmbedded: true });
  const byNode = new Map<MimeNode, Growing>();
  let root: Growing | undefined;
  splitter.end(withUsualDelimiters(raw));
  for await (const chunk of splitter as AsyncIterable<MimeNode | { type: string; node: MimeNode; value: Buffer }>) {
    if (chunk.type === "node") {
      const part = partOf(chunk as MimeNode);
      byNode.set(part.node, part);
      const parent = part.node.parentNode === false ? undefined : byNode.get(part.node.parentNode);
      if (parent === undefined) root ??= part;
      else parent.parts.push(part);
    } else if (chunk.type === "body") {
      const { node, value } = chunk as { node: MimeNode; value: Buffer };
      byNode.get(node)?.encoded.push(value);
    }
  }
  if (root === undefined) throw new Error("the mail has no part");
  return finished(root);
}

/**
 * The splitter knows delimiters without white space behind them, and none of a multipart around one that lacks its end. Both
 * are permitted, so this removes the white space and adds the ends.
 */
function withUsualDelimiters(raw: Buffer): Buffer {
  const text = raw.toString("latin1");
  const changed: string[] = [];
  let copied = 0;
  /** The boundaries of the multiparts around the place, the innermost last. */
  const open = boundaryOf(text.slice(0, bodyStart(raw)));
  for (let at = text.indexOf("\n--"); at >= 0 && open.length > 0; at = text.indexOf("\n--", at + 1)) {
    const start = at + 1;
    const lineEnd = text.indexOf("\n", start);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const given = text.slice(start, Math.min(end, start + 300));
    const line = given.trimEnd();
    const nth = open.findLastIndex((boundary) => line === `--${boundary}` || line === `--${boundary}--`);
    if (nth < 0) continue;
    const unended = open.splice(nth + 1).toReversed();
    if (unended.length > 0 || /[ \t]\r?$/.test(given)) {
      const ends = unended.map((boundary) => `--${boundary}--\r\n`);
      changed.push(text.slice(copied, start), ...ends, `${line}\r`);
      copied = end;
    }
    if (line === `--${open[nth]}--`) open.pop();
    else open.push(...boundaryOf(headAt(text, end)));
  }
  return changed.length === 0 ? raw : Buffer.from([...changed, text.slice(copied)].join(""), "latin1");
}

/** The header fields below the line that ends here. */
function headAt(text: string, lineEnd: number): string {
  const head = text.slice(lineEnd, lineEnd + headMax);
  return head.slice(0, /\n(?:\r?\n|--)/.exec(head)?.index);
}

const headMax = 20_000;

/** The boundary that header fields declare, or none. */
const boundaryOf = (head: string): string[] => {
  const [field = ""] = /^content-type[ \t]{0,9}:[^\n]*(?:\n[ \t][^\n]*)*/im.exec(head) ?? [];
  return boundariesIn(field).slice(0, 1);
};

function partOf(node: MimeNode): Growing {
  const headers = node.headers === false ? undefined : node.headers;
  const numbers = (node.partNr === false ? [] : node.partNr).filter((each) => typeof each === "number");
  const contentType = headers?.getFirst("Content-Type") ?? "";
  return {
    node,
    mediaType: mediaTypeOf(node, contentType),
    charset: charsetOf(node, contentType),
    isAttachment: node.disposition !== false && node.disposition !== "inline",
    fileName: node.filename === false || node.filename.trim() === "" ? null : node.filename,
    contentId: headers?.getFirst("Content-ID").trim() || null,
    contentType,
    flow: node.flowed ? { deletesSpaces: node.delSp } : null,
    number: numbers.length === 0 ? "1" : numbers.join("."),
    encoded: [],
    parts: [],
  };
}

/** Some programs write types in wrong syntax, such as `text; charset=utf-8` or `plain/text`. */
function mediaTypeOf(node: MimeNode, header: string): string {
  const isDigest = node.parentNode !== false && node.parentNode.contentType === "multipart/digest";
  if (header.trim() === "" && isDigest) return "message/rfc822";
  const type = node.contentType === false ? "text/plain" : node.contentType;
  if (/^(?:text|plain(?:\/text)?)(?:$|[\s,])/.test(type)) return "text/plain";
  if (/^html(?:\/text)?(?:$|[\s,])/.test(type)) return "text/html";
  return /^[\w.+-]{1,60}\/[\w.+-]{1,100}/.exec(type)?.[0] ?? "application/octet-stream";
}

/** Some programs write no semicolon before it. */
function charsetOf({ charset }: MimeNode, contentType: string): string | null {
  const named = charset === false ? /\bcharset[ \t]{0,9}=[ \t"]{0,9}([\w.:-]{1,60})/i.exec(contentType)?.[1] : charset;
  return named?.trim().toLowerCase() ?? null;
}

async function finished({ node, encoded, parts, ...rest }: Growing): Promise<MailPart> {
  const children: MailPart[] = [];
  for (const part of parts) children.push(await finished(part));
  return { ...rest, content: encoded.length === 0 ? Buffer.alloc(0) : await decoded(node, encoded), parts: children };
}

async function decoded(node: MimeNode, encoded: readonly Buffer[]): Promise<Buffer> {
  const decoder = node.getDecoder();
  decoder.end(Buffer.concat(encoded));
  const chunks: Buffer[] = [];
  for await (const chunk of decoder as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

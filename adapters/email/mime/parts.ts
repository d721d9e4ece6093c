import { Splitter } from "@zone-eu/mailsplit";
import type { MimeNode } from "@zone-eu/mailsplit";

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
  splitter.end(raw);
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

import { detect } from "chardet";
import iconv from "iconv-lite";

/** Charsets that programs often declare wrongly. Others are trusted. */
const unreliable = /^(?:utf-?8|us-ascii|ascii|ansi_x3\.4-1968|iso-8859-1|iso8859-1|latin-?1|windows-1252|cp1252)$/i;
/** Charsets that say nothing about the bytes. */
const useless = /^(?:x-user-defined|binary|[78]bit)$/i;
const wide = /^(?:utf-?16(?:le|be)?|ucs-?2(?:le|be)?|iso-10646-ucs-2)$/i;
/** Larger than the headers of any real mail. */
const headersMax = 256 * 1024;
/** A detector needs no more. */
const detectedMax = 64 * 1024;

const htmlHeadMax = 8 * 1024;

/** The escape sequences of ISO-2022-JP. */
const escapes = ["$@", "$B", "(J", "(I"].map((rest) => Buffer.from(`\u001B${rest}`, "latin1"));

const utf8 = new TextDecoder("utf-8", { fatal: true });
const windows1252 = new TextDecoder("windows-1252");

/**
 * Decodes the bytes of a text part. `declared`: the charset that the part names; null: none. `hint`: the charset of the
 * mail's encoded subject, for parts that name none.
 */
export function decodeText(bytes: Buffer, declared: string | null, hint: string | null): string {
  const marked = markedCharset(bytes);
  if (marked !== undefined) return decodeAs(bytes, marked) ?? "";
  const named = declared === null || isWrong(bytes, declared) ? null : declared;
  if (named !== null && !unreliable.test(named)) return decodeAs(bytes, named) ?? "";
  // Its escape sequences are valid in UTF-8 too.
  if (escapes.some((escape) => bytes.includes(escape))) return decodeAs(bytes, "iso-2022-jp") ?? "";
  const whole = inUtf8(bytes);
  if (whole !== undefined) return whole;
  if (named === null) {
    const hinted = hint === null || unreliable.test(hint) ? null : hint;
    for (const guessed of [hinted, detect(bytes.subarray(0, detectedMax))]) {
      const text = guessed === null ? undefined : decodeAs(bytes, guessed);
      if (text !== undefined && !text.includes("\uFFFD")) return text;
    }
  }
  return decodeLines(bytes);
}

/** Text in two bytes a sign has a zero in each space and line end of it. */
const isWrong = (bytes: Buffer, charset: string): boolean =>
  useless.test(charset) || (wide.test(charset) && !bytes.includes(0)) || decoderFor(charset) === undefined;

/** The charset that a byte-order mark names. */
function markedCharset(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return undefined;
}

type Decode = (bytes: Buffer) => string;

/** Undefined: nobody knows this charset. */
function decoderFor(charset: string): Decode | undefined {
  try {
    const decoder = new TextDecoder(charset);
    return (bytes) => decoder.decode(bytes);
  } catch {
    // Old charsets that browsers do not have, such as UTF-7 and code page 437.
    return iconv.encodingExists(charset) ? (bytes) => iconv.decode(bytes, charset) : undefined;
  }
}

const decodeAs = (bytes: Buffer, charset: string): string | undefined => decoderFor(charset)?.(bytes);

/** The charset of the first encoded word in a header. */
export const charsetOfWords = (header: string): string | null =>
  /=\?([\w.:-]{1,60})(?:\*[\w-]{1,20})?\?[BbQq]\?/.exec(header)?.[1] ?? null;

/** The charset that the head of an HTML part names. */
export const charsetOfHtml = (html: Buffer): string | null =>
  /<meta\b[^>]{0,200}\bcharset[ \t]{0,9}=[ \t"']{0,9}([\w.:-]{1,60})/i.exec(
    html.toString("latin1", 0, htmlHeadMax),
  )?.[1] ?? null;

/** The mail with its headers in UTF-8: some programs write them in their machine's charset. */
export function headersInUtf8(raw: Buffer, bodyStart: number): Buffer {
  if (bodyStart > headersMax) return raw;
  const head = raw.subarray(0, bodyStart);
  if (inUtf8(head) !== undefined) return raw;
  return Buffer.concat([Buffer.from(decodeLines(head), "utf8"), raw.subarray(bodyStart)]);
}

/** Decodes each line as UTF-8 if it is valid, else as Windows-1252. */
const decodeLines = (bytes: Buffer): string =>
  bytes
    .toString("latin1")
    .split("\n")
    .map((line) => Buffer.from(line, "latin1"))
    .map((line) => inUtf8(line) ?? windows1252.decode(line))
    .join("\n");

/** Undefined: not valid UTF-8. */
function inUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Some programs declare no charset, or another than they write. Their mails are parsed once more as if each of
 * their bytes were a sign, which brings the bytes back; what these are shows in them.
 */

/** Charsets that are declared without a thought; others are believed. */
const thoughtless = "utf-?8|us-ascii|ascii|ansi_x3\\.4-1968|iso-8859-1|iso8859-1|latin-?1|windows-1252|cp1252";
const textHeaders = /^content-type[ \t]{0,9}:[ \t]{0,9}text\/[^\r\n]{0,998}(?:\r?\n[ \t][^\r\n]{0,998}){0,20}/gim;
const declared = /\bcharset[ \t]{0,9}=[ \t]{0,9}"?([A-Za-z0-9_.:-]{1,60})"?/i;
const believed = new RegExp(`^(?:${thoughtless})$`, "i");

/** UTF-8 that was read as Windows-1252 or ISO-8859-1: the first byte of a sign, and a second one that follows none else. */
const misread =
  /[\u00C2-\u00F4][\u0080-\u00BF\u0152\u0153\u0160\u0161\u0178\u017D\u017E\u0192\u02C6\u02DC\u2013-\u203A\u20AC\u2122]/;

/** Whether what was read may not be what was written. */
export const isDoubtful = (text: string): boolean => text.includes("\uFFFD") || misread.test(text);

/** The mail with all its thoughtless texts declared as mere bytes. */
export function declaredAsBytes(raw: Buffer, bodyStart: number): Buffer {
  const text = raw.toString("latin1");
  const head = /^content-type[ \t]{0,9}:/im.test(text.slice(0, bodyStart))
    ? ""
    : "Content-Type: text/plain; charset=binary\r\n";
  const changed = text.replaceAll(textHeaders, (header) => {
    const charset = declared.exec(header)?.[1];
    if (charset === undefined) return `${header}; charset=binary`;
    return believed.test(charset) ? header.replace(declared, "charset=binary") : header;
  });
  return Buffer.from(head + changed, "latin1");
}

/** More than any mail's headers have. */
const headersMax = 256 * 1024;

/** The mail with its headers in UTF-8, line by line: some programs write them in the charset of their machine. */
export function headersInUtf8(raw: Buffer, bodyStart: number): Buffer {
  if (bodyStart > headersMax) return raw;
  const bytes = raw.toString("latin1", 0, bodyStart);
  if (inUtf8(bytes) !== undefined) return raw;
  return Buffer.concat([Buffer.from(decoded(bytes), "utf8"), raw.subarray(bodyStart)]);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const windows1252 = new TextDecoder("windows-1252");

/** The text, by the bytes of each of its lines: `read` stays where they say the same or nothing. */
export function repaired(read: string, bytes: string): string {
  // A part of another charset is in it as it was read, and no bytes are known of it.
  if (Buffer.from(bytes, "latin1").toString("latin1") !== bytes) return read;
  const isLossy = read.includes("\uFFFD");
  const whole = inUtf8(bytes);
  if (whole !== undefined) return whole;
  return isLossy ? decoded(bytes) : read;
}

/** Each line by itself: as UTF-8 where it is, else as Windows-1252. */
const decoded = (bytes: string): string =>
  bytes
    .split("\n")
    .map((line) => inUtf8(line) ?? windows1252.decode(Buffer.from(line, "latin1")))
    .join("\n");

/** Undefined for what is not UTF-8. */
function inUtf8(bytes: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return undefined;
  }
}

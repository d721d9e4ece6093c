/**
 * Repairs texts with a missing or wrong charset. The mail is parsed a second time with each byte as one character, which
 * recovers the bytes; these show whether the text is UTF-8 or Windows-1252.
 */

/** Charsets that programs often declare wrongly. Others are trusted. */
const unreliable = "utf-?8|us-ascii|ascii|ansi_x3\\.4-1968|iso-8859-1|iso8859-1|latin-?1|windows-1252|cp1252";
const textHeaders = /^content-type[ \t]{0,9}:[ \t]{0,9}text\/[^\r\n]{0,998}(?:\r?\n[ \t][^\r\n]{0,998}){0,20}/gim;
const declared = /\bcharset[ \t]{0,9}=[ \t]{0,9}"?([A-Za-z0-9_.:-]{1,60})"?/i;
const repairable = new RegExp(`^(?:${unreliable})$`, "i");

/** UTF-8 read as Windows-1252 or ISO-8859-1: a lead byte followed by a continuation byte. */
const misread =
  /[\u00C2-\u00F4][\u0080-\u00BF\u0152\u0153\u0160\u0161\u0178\u017D\u017E\u0192\u02C6\u02DC\u2013-\u203A\u20AC\u2122]/;

/** Whether the text may have been decoded wrongly. */
export const isDoubtful = (text: string): boolean => text.includes("\uFFFD") || misread.test(text);

/** The mail with charset=binary instead of unreliable charsets. */
export function declaredAsBytes(raw: Buffer, bodyStart: number): Buffer {
  const text = raw.toString("latin1");
  const head = /^content-type[ \t]{0,9}:/im.test(text.slice(0, bodyStart))
    ? ""
    : "Content-Type: text/plain; charset=binary\r\n";
  const changed = text.replaceAll(textHeaders, (header) => {
    const charset = declared.exec(header)?.[1];
    if (charset === undefined) return `${header}; charset=binary`;
    return repairable.test(charset) ? header.replace(declared, "charset=binary") : header;
  });
  return Buffer.from(head + changed, "latin1");
}

/** Larger than the headers of any real mail. */
const headersMax = 256 * 1024;

/** The mail with its headers in UTF-8: some programs write them in their machine's charset. */
export function headersInUtf8(raw: Buffer, bodyStart: number): Buffer {
  if (bodyStart > headersMax) return raw;
  const bytes = raw.toString("latin1", 0, bodyStart);
  if (inUtf8(bytes) !== undefined) return raw;
  return Buffer.concat([Buffer.from(decoded(bytes), "utf8"), raw.subarray(bodyStart)]);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const windows1252 = new TextDecoder("windows-1252");

/** Decodes the recovered bytes. Returns `read` when they are unknown or show no error. */
export function repaired(read: string, bytes: string): string {
  // A part in a trusted charset was decoded, so its bytes are unknown.
  if (Buffer.from(bytes, "latin1").toString("latin1") !== bytes) return read;
  const isLossy = read.includes("\uFFFD");
  const whole = inUtf8(bytes);
  if (whole !== undefined) return whole;
  return isLossy ? decoded(bytes) : read;
}

/** Decodes each line as UTF-8 if it is valid, else as Windows-1252. */
const decoded = (bytes: string): string =>
  bytes
    .split("\n")
    .map((line) => inUtf8(line) ?? windows1252.decode(Buffer.from(line, "latin1")))
    .join("\n");

/** undefined: not valid UTF-8. */
function inUtf8(bytes: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return undefined;
  }
}

/** More than real mails have. With thousands of parts parsers take very long or never end. */
const partsMax = 200;
/** Limits nesting: each level needs a boundary of its own. */
const boundariesMax = 40;
const scannedMax = 64 * 1024 * 1024;
/** Space for more addresses than are read. The parser needs time for each, and for each comma. */
const addressFieldMax = 20_000;
const addressField = /^(?:to|cc|bcc|from|sender|reply-to|resent-[\w-]{1,20})[ \t]*:/i;

/**
 * Returns why this mail must not be parsed; undefined: it may. Runs in linear time: lines that start with any declared
 * boundary are an upper limit for the number of parts.
 */
export function tooComplex(raw: Buffer): string | undefined {
  const text = raw.subarray(0, scannedMax).toString("latin1");
  const boundaries = new Set(boundariesIn(text));
  if (boundaries.size > boundariesMax) return `it has parts within parts, more than ${boundariesMax} deep`;
  let parts = 0;
  for (let at = text.indexOf("--"); at >= 0; at = text.indexOf("\n--", at + 1)) {
    const start = text.charAt(at) === "\n" ? at + 3 : at + 2;
    const lineEnd = text.indexOf("\n", start);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const line = text.slice(start, Math.min(end, start + 210)).trimEnd();
    if (!boundaries.has(line)) continue;
    parts += 1;
    if (parts > partsMax) return `it has more than ${partsMax} parts`;
  }
  let embedded = 0;
  for (const _ of text.matchAll(/^content-type\s{0,9}:\s{0,9}message\/(?:rfc822|global)/gim)) {
    embedded += 1;
    if (embedded > boundariesMax) return `it has mails within mails, more than ${boundariesMax}`;
  }
  return undefined;
}

/** The boundaries that this text declares. */
export const boundariesIn = (text: string): string[] =>
  [...text.matchAll(/\bboundary\s{0,9}=\s{0,9}(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))/gi)].map(
    ([, quoted, bare]) => quoted ?? bare ?? "",
  );

/** The headers with lists of addresses that end, between two of them, where nobody reads on. */
export function shortAddressFields(head: Buffer): Buffer {
  if (head.length <= addressFieldMax) return head;
  const fields = head.toString("latin1").split(/(?<=\n)(?![ \t])/);
  const shortened = fields.map((field) => {
    if (field.length <= addressFieldMax || !addressField.test(field)) return field;
    const start = field.slice(0, addressFieldMax);
    const comma = start.lastIndexOf(",");
    return `${comma === -1 ? start : start.slice(0, comma)}\r\n`;
  });
  return Buffer.from(shortened.join(""), "latin1");
}

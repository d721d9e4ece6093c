/** A parsed mail: plain data that can be sent between threads. */
export interface Mail {
  /** The Message-ID with its angle brackets; null: missing. */
  readonly messageId: string | null;
  readonly from: Address | null;
  readonly replyTo: readonly Address[];
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly subject: string;
  /** Epoch milliseconds, by the sender's clock. */
  readonly date: number | null;
  /** Referenced Message-IDs, nearest first: In-Reply-To, then References from the end. */
  readonly references: readonly string[];
  /** In original order, unfolded, names in lower case, at most {@link headersMax}. */
  readonly headers: readonly Header[];
  /** The visible texts, in order. */
  readonly texts: readonly MailText[];
  readonly attachments: readonly Attachment[];
  /** It was signed with S/MIME. The signature was not checked. */
  readonly isSigned: boolean;
  /** The part `message/delivery-status`, and the Message-ID of the mail that it reports on. */
  readonly report: { readonly status: string; readonly original: string | null } | null;
  /** SHA-256 in hex, independent of changes to white space in transfer. */
  readonly bodyHash: string;
  /** A sentence for agents on missing parts; null: complete. */
  readonly lacks: string | null;
}

export interface MailText {
  /** `mail`: an attached mail, as a forward shows it. */
  readonly kind: "plain" | "html" | "invitation" | "mail";
  readonly text: string;
}

export interface Address {
  /** Without the name, in its original case. */
  readonly address: string;
  readonly name: string;
}

export interface Header {
  readonly name: string;
  readonly value: string;
}

export interface Attachment {
  /** IMAP's number of the part, such as `2.1`. */
  readonly part: string;
  /** Which of the files within that part it is: a picture within HTML, a file within signed data. Null: the whole part. */
  readonly nth: number | null;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Shown within the text. */
  readonly inline: boolean;
}

const headersMax = 500;
const headerBytesMax = 256 * 1024;

/** Some programs indent the fields after these, which have no such words in their values. */
const neverFolded = new Set(["date", "message-id", "mime-version"]);
const fieldStart = /^[ \t]{1,20}[A-Za-z][A-Za-z-]{1,60}:[ \t]/;

/** Reads the header fields in linear time. */
export function readHeaders(raw: Buffer): readonly Header[] {
  const block = headerBlock(raw);
  const headers: Header[] = [];
  /** The line is a field, although it looks like the continuation of one. */
  let isIndented = false;
  for (const line of block.split("\n")) {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    const last = headers.at(-1);
    isIndented = (isIndented || neverFolded.has(last?.name ?? "")) && fieldStart.test(text);
    if (!isIndented && (text.startsWith(" ") || text.startsWith("\t"))) {
      if (last !== undefined) headers[headers.length - 1] = { ...last, value: `${last.value} ${text.trim()}` };
      continue;
    }
    const colon = text.indexOf(":");
    if (colon < 1) continue;
    if (headers.length >= headersMax) break;
    headers.push({ name: text.slice(0, colon).trim().toLowerCase(), value: text.slice(colon + 1).trim() });
  }
  return headers;
}

/** The offset of the body, after the empty line. */
export function bodyStart(raw: Buffer): number {
  const unix = raw.indexOf("\n\n");
  const windows = raw.indexOf("\r\n\r\n");
  if (unix < 0 && windows < 0) return raw.length;
  if (windows >= 0 && (unix < 0 || windows < unix)) return windows + 4;
  return unix + 2;
}

function headerBlock(raw: Buffer): string {
  return raw.subarray(0, Math.min(bodyStart(raw), headerBytesMax)).toString("latin1");
}

export const headersNamed = ({ headers }: Pick<Mail, "headers">, name: string): readonly string[] =>
  headers.filter((header) => header.name === name).map(({ value }) => value);

export const headerNamed = (mail: Pick<Mail, "headers">, name: string): string | undefined =>
  headersNamed(mail, name)[0];

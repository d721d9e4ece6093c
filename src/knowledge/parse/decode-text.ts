import { detect } from "chardet";
import { documentBytesMax, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";
import { readableTypes, wordType } from "#knowledge/documents/file-types.ts";

interface Signature {
  readonly name: string;
  readonly bytes: readonly number[];
  /** Types of files that begin with these bytes. */
  readonly types: readonly ReadableType[];
  readonly advice: string;
}

const ascii = (text: string): number[] => [...Buffer.from(text, "latin1")];

const signatures: readonly Signature[] = [
  {
    name: "a PDF file",
    bytes: ascii("%PDF-"),
    types: ["application/pdf"],
    advice: "Give it a name that ends in .pdf and add it again.",
  },
  {
    name: "a Word file or another ZIP archive",
    bytes: [0x50, 0x4b, 0x03, 0x04],
    types: [wordType],
    advice: "If it is a Word file, give it a name that ends in .docx and add it again.",
  },
  {
    name: "an older Office file, or one that is protected by a password",
    bytes: [0xd0, 0xcf, 0x11, 0xe0],
    types: [],
    advice: "Save it as .docx without a password and add it again.",
  },
  { name: "an RTF file", bytes: ascii("{\\rtf"), types: [], advice: "Save it as .docx and add it again." },
  { name: "a picture", bytes: [0x89, 0x50, 0x4e, 0x47], types: [], advice: "Only files with text can be read." },
  { name: "a picture", bytes: [0xff, 0xd8, 0xff], types: [], advice: "Only files with text can be read." },
  { name: "a compressed file", bytes: [0x1f, 0x8b], types: [], advice: "Add the file that is in it." },
];

/** Throws {@link UnreadableDocument} where the content is of another type than the file's name. */
export function checkContent(bytes: Uint8Array, type: ReadableType): void {
  if (bytes.byteLength === 0) throw new UnreadableDocument("The file is empty.");
  if (bytes.byteLength > documentBytesMax) throw new UnreadableDocument("The file is larger than 25 MB. Split it.");
  const found = signatures.find((each) => each.bytes.every((byte, index) => bytes[index] === byte));
  if (found?.types.includes(type) === true) return;
  const ending = readableTypes[type][0];
  if (found !== undefined) {
    throw new UnreadableDocument(`The file is ${found.name}, not a ${ending} file. ${found.advice}`);
  }
  if (type === wordType)
    throw new UnreadableDocument(
      "The file is not a Word file, though it is named like one. Save it as .docx and add it again.",
    );
  // Some programs write a few bytes before the signature.
  if (type === "application/pdf" && !Buffer.from(bytes.subarray(0, 1_024)).includes("%PDF-")) {
    throw new UnreadableDocument(
      "The file is not a PDF, though it is named like one. Save it as PDF and add it again.",
    );
  }
}

/**
 * Decodes UTF-8, UTF-16 with a byte order mark, or else the declared encoding; without one, the one that the letters
 * suggest, or Windows-1252. Throws
 * {@link UnreadableDocument} for anything but text.
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const text = decode(bytes, declared);
  let controls = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0)
      throw new UnreadableDocument(
        "The file is not text: it holds binary data. Save it as text, PDF or Word and add it again.",
      );
    if (code < 32 && code !== 9 && code !== 10 && code !== 12 && code !== 13) controls += 1;
    // Windows-1252 has no characters here, so these bytes are not text.
    if (code >= 0x80 && code < 0xa0) controls += 1;
  }
  if (controls * 100 > text.length)
    throw new UnreadableDocument(
      "The file is not text: it holds binary data. Save it as text, PDF or Word and add it again.",
    );
  return text;
}

function decode(bytes: Uint8Array, declared: string | undefined): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Valid UTF-8 is taken as UTF-8, whatever was declared; this text is not valid.
  }
  return decoderFor(declared ?? guessed(bytes)).decode(bytes);
}

/** A detector needs no more. */
const detectedMax = 64 * 1024;

/** The encoding of text in other letters than Latin ones: most of its letters are bytes above ASCII. */
function guessed(bytes: Uint8Array): string | undefined {
  const read = bytes.subarray(0, detectedMax);
  let high = 0;
  let latin = 0;
  for (const byte of read) {
    if (byte >= 0x80) high += 1;
    else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) latin += 1;
  }
  return high > latin ? (detect(read) ?? undefined) : undefined;
}

function decoderFor(label: string | undefined): TextDecoder {
  // A file declared as UTF-8 that is not valid usually mixes encodings, or has a wrong declaration.
  if (label === undefined || /^utf-?8$/i.test(label)) return new TextDecoder("windows-1252");
  try {
    return new TextDecoder(label);
  } catch {
    // The declared encoding does not exist.
    return new TextDecoder("windows-1252");
  }
}

/** The encoding declared in the page's head. */
export function charsetOfHtml(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 2_048)).toString("latin1");
  return /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1];
}

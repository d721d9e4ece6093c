import { extname } from "node:path";
import { documentBytesMax, oneLine, titleCharactersMax, UnreadableDocument } from "./blocks.ts";
import type { ParsedDocument } from "./blocks.ts";
import { parseHtml } from "./parse-html.ts";
import { parseMarkdown } from "./parse-markdown.ts";
import { parseText } from "./parse-text.ts";

/** Media types that can be read, and the file endings that stand for them. */
export const readableTypes = {
  "text/markdown": [".md", ".markdown"],
  "text/html": [".html", ".htm", ".xhtml"],
  "text/plain": [".txt", ".text"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type ReadableType = keyof typeof readableTypes;

const byType: ReadonlyMap<string, ReadableType> = new Map<string, ReadableType>([
  ["text/markdown", "text/markdown"],
  ["text/x-markdown", "text/markdown"],
  ["text/html", "text/html"],
  ["application/xhtml+xml", "text/html"],
  ["text/plain", "text/plain"],
]);
const byEnding: ReadonlyMap<string, ReadableType> = new Map(
  (["text/markdown", "text/html", "text/plain"] as const).flatMap((type) =>
    readableTypes[type].map((ending) => [ending, type]),
  ),
);

/**
 * How a file is to be read: by its name's ending, else by the media type it was sent with. Undefined: it cannot be.
 * The name goes first since browsers send Markdown as `text/plain` or as nothing at all.
 */
export function readableType(fileName: string, mediaType: string | undefined): ReadableType | undefined {
  const ending = extname(fileName).toLowerCase();
  if (ending !== "" && /^\.[a-z]+$/.test(ending)) {
    const known = byEnding.get(ending);
    if (known !== undefined) return known;
  }
  return byType.get((mediaType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "");
}

/** "return-policy_2024.md" as a person would write it: "Return policy 2024". */
export function titleFromFileName(fileName: string): string {
  const base = fileName.split(/[\\/]/).at(-1) ?? fileName;
  const words = oneLine(base.slice(0, base.length - extname(base).length).replaceAll(/[-_+]+/g, " "));
  if (words === "") return oneLine(base).slice(0, titleCharactersMax) || "Untitled";
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`.slice(0, titleCharactersMax);
}

/** UTF-8, with or without a byte order mark; UTF-16 where the mark says so. Refuses what is not text. */
function decodeText(bytes: Uint8Array): string {
  if (bytes.byteLength === 0) throw new UnreadableDocument("The file is empty.");
  if (bytes.byteLength > documentBytesMax) throw new UnreadableDocument("The file is larger than 25 MB.");
  const utf16 =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : undefined;
  let text: string;
  try {
    text = new TextDecoder(utf16 ?? "utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UnreadableDocument("The file is not text in UTF-8. Save it as UTF-8 and add it again.", { cause });
  }
  let controls = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0) throw new UnreadableDocument("The file is not text: it holds binary data.");
    if (code < 32 && code !== 9 && code !== 10 && code !== 12 && code !== 13) controls += 1;
  }
  if (controls * 100 > text.length) throw new UnreadableDocument("The file is not text: it holds binary data.");
  return text;
}

/** Throws {@link UnreadableDocument} for a file that is not text, or holds none. */
export function parseDocument(bytes: Uint8Array, type: ReadableType): ParsedDocument {
  const source = decodeText(bytes);
  const parsed = parseAs(source, type);
  if (!parsed.blocks.some((block) => block.kind !== "heading")) {
    throw new UnreadableDocument(
      parsed.blocks.length === 0 ? "The file holds no text." : "The file holds headings but no text.",
    );
  }
  return {
    title: parsed.title === null ? null : parsed.title.slice(0, titleCharactersMax),
    blocks: parsed.blocks,
  };
}

function parseAs(source: string, type: ReadableType): ParsedDocument {
  switch (type) {
    case "text/markdown":
      return parseMarkdown(source);
    case "text/html":
      return parseHtml(source);
    case "text/plain":
      return parseText(source);
  }
}

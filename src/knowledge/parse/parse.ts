import { extname } from "node:path";
import { oneLine, titleCharactersMax, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";
import { charsetOfHtml, checkContent, decodeText } from "./decode-text.ts";
import type { ReadableType, TextType } from "#knowledge/documents/file-types.ts";
import { wordType } from "#knowledge/documents/file-types.ts";
import { parseCsv } from "./csv.ts";
import { parseHtml } from "./html/html.ts";
import { parseJson } from "./json.ts";
import { parseMarkdown } from "./markdown.ts";
import { parseText } from "./text.ts";

/** Makes "Return policy 2024" of "return-policy_2024.md". */
export function titleFromFileName(fileName: string): string {
  const base = fileName.split(/[\\/]/).at(-1) ?? fileName;
  const words = oneLine(base.slice(0, base.length - extname(base).length).replaceAll(/[-_+]+/g, " "));
  if (words === "") return oneLine(base).slice(0, titleCharactersMax) || "Untitled";
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`.slice(0, titleCharactersMax);
}

/** Throws {@link UnreadableDocument} for a file of another type than its name, or without text. */
export async function parseDocument(bytes: Uint8Array, type: ReadableType, charset?: string): Promise<ParsedDocument> {
  switch (type) {
    // These parsers are large, so they are loaded when first used.
    case "application/pdf": {
      checkContent(bytes, type);
      const { parsePdf } = await import("./pdf/pdf.ts");
      return requireText(await parsePdf(bytes));
    }
    case wordType: {
      checkContent(bytes, type);
      const { parseDocx } = await import("./docx.ts");
      return requireText(await parseDocx(bytes));
    }
    default:
      return parseTextDocument(bytes, type, charset);
  }
}

/** `charset`: from the declared media type. */
export function parseTextDocument(bytes: Uint8Array, type: TextType, charset?: string): ParsedDocument {
  checkContent(bytes, type);
  const declared = charset ?? (type === "text/html" ? charsetOfHtml(bytes) : undefined);
  return requireText(parseAs(decodeText(bytes, declared), type));
}

function requireText(parsed: ParsedDocument): ParsedDocument {
  if (!parsed.blocks.some((block) => block.kind !== "heading")) {
    if (typeof parsed.note === "string") throw new UnreadableDocument(parsed.note);
    throw new UnreadableDocument(
      parsed.blocks.length === 0
        ? "The file holds no text. Add one with text."
        : "The file holds headings but no text. Write something below them and add it again.",
    );
  }
  return {
    title: parsed.title === null ? null : parsed.title.slice(0, titleCharactersMax),
    blocks: parsed.blocks,
    note: parsed.note ?? null,
  };
}

function parseAs(source: string, type: TextType): ParsedDocument {
  switch (type) {
    case "text/markdown":
      return parseMarkdown(source);
    case "text/html":
      return parseHtml(source);
    case "text/plain":
      return parseText(source);
    case "text/csv":
      return parseCsv(source);
    case "application/json":
      return parseJson(source);
  }
}

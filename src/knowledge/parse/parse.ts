import { extname } from "node:path";
import { oneLine, titleCharactersMax, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";
import { charsetOfHtml, checkContent, decodeText } from "./decode-text.ts";
import type { ReadableType, TextType } from "#knowledge/documents/file-types.ts";
import { wordType } from "#knowledge/documents/file-types.ts";
import { parseCsv } from "./csv.ts";
import { parseHtml } from "./html.ts";
import { parseJson } from "./json.ts";
import { parseMarkdown } from "./markdown.ts";
import { parseText } from "./text.ts";

/** "return-policy_2024.md" as a person would write it: "Return policy 2024". */
export function titleFromFileName(fileName: string): string {
  const base = fileName.split(/[\\/]/).at(-1) ?? fileName;
  const words = oneLine(base.slice(0, base.length - extname(base).length).replaceAll(/[-_+]+/g, " "));
  if (words === "") return oneLine(base).slice(0, titleCharactersMax) || "Untitled";
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`.slice(0, titleCharactersMax);
}

/** Throws {@link UnreadableDocument} for a file that is not what it is named, is not text, or holds none. */
export async function parseDocument(bytes: Uint8Array, type: ReadableType, charset?: string): Promise<ParsedDocument> {
  switch (type) {
    // Their readers are large, and few installations need them at every start.
    case "application/pdf": {
      checkContent(bytes, type);
      const { parsePdf } = await import("./pdf.ts");
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

/** `charset`: of the media type that it was sent with. */
export function parseTextDocument(bytes: Uint8Array, type: TextType, charset?: string): ParsedDocument {
  checkContent(bytes, type);
  const declared = charset ?? (type === "text/html" ? charsetOfHtml(bytes) : undefined);
  return requireText(parseAs(decodeText(bytes, declared), type));
}

function requireText(parsed: ParsedDocument): ParsedDocument {
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

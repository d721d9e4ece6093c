import mammoth from "mammoth";
import { fromBufferPromise } from "yauzl";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";
import { parseHtml } from "./html/html.ts";

const inflatedBytesMax = 50 * 1_048_576;
const ratioMax = 100;
const entriesMax = 2_000;

/** Converts a Word file to HTML, and parses that. */
export async function parseDocx(bytes: Uint8Array): Promise<ParsedDocument> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  await checkArchive(buffer);
  let html: string;
  try {
    const converted = await mammoth.convertToHtml(
      { buffer },
      {
        styleMap: [
          "p[style-name='Title'] => h1:fresh",
          "p[style-name='Subtitle'] => p:fresh",
          "p[style-name='Table Heading'] => p:fresh > strong:fresh",
        ],
        transformDocument: withHeaderRows,
        // Pictures would be embedded as text.
        convertImage: mammoth.images.imgElement(async () => ({ src: "" })),
      },
    );
    html = converted.value;
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw new UnreadableDocument("The Word file is damaged. Open it in Word, save it again and add it again.", {
      cause,
    });
  }
  return parseHtml(html);
}

interface Element {
  readonly type: string;
  readonly styleName?: string | null;
  readonly children?: readonly Element[];
}

/** Styles of tables that give the first row no look of its own. */
const plainTables = /^(?:(?:normal table|table normal|table grid|grid table light|table grid light)\b|$)/i;

/** Word's table styles mark the first row as the header, where the rows themselves do not say it. */
function withHeaderRows<E extends Element>(element: E): E {
  const children = element.children?.map(withHeaderRows);
  if (children === undefined) return element;
  const [first, ...rest] = children;
  const isStyled = element.type === "table" && !plainTables.test(element.styleName ?? "");
  const isHeaded = isStyled && first !== undefined && rest.length > 0;
  return { ...element, children: isHeaded ? [{ ...first, isHeader: true }, ...rest] : children };
}

/** Inflates everything once to count the bytes, so that an archive that grows too large is never read. */
async function checkArchive(buffer: Buffer): Promise<void> {
  const names = new Set<string>();
  let inflated = 0;
  const allowed = Math.min(inflatedBytesMax, ratioMax * Math.max(buffer.byteLength, 10_240));
  try {
    const zip = await fromBufferPromise(buffer, { lazyEntries: true, validateEntrySizes: true });
    if (zip.entryCount > entriesMax) throw new UnreadableDocument(`The Word file has more than ${entriesMax} parts.`);
    for await (const entry of zip.eachEntry()) {
      names.add(entry.fileName);
      if (entry.isEncrypted()) {
        throw new UnreadableDocument("The file is protected by a password. Save it without one and add it again.");
      }
      if (entry.fileName.endsWith("/")) continue;
      for await (const piece of await zip.openReadStreamPromise(entry)) {
        inflated += (piece as Buffer).byteLength;
        if (inflated > allowed) {
          throw new UnreadableDocument(
            "The Word file unpacks to far more than a document is. Split it into smaller files.",
          );
        }
      }
    }
  } catch (cause) {
    throw cause instanceof UnreadableDocument ? cause : damaged(cause);
  }
  if (!names.has("word/document.xml") && !names.has("[Content_Types].xml")) {
    throw new UnreadableDocument("The file is a ZIP archive, not a Word file. Add the files that are in it.");
  }
}

function damaged(cause: unknown): UnreadableDocument {
  return new UnreadableDocument(
    "The Word file is damaged, or was not transferred completely. Open it, save it again and add it again.",
    { cause },
  );
}

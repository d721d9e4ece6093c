import { gunzipSync } from "node:zlib";
import { Parser } from "htmlparser2";
import { decodeText } from "#knowledge/parse/decode-text.ts";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";

/** Addresses exactly as written in the file. */
export interface Sitemap {
  readonly pages: readonly string[];
  /** Addresses of further sitemaps. */
  readonly sitemaps: readonly string[];
}

const inflatedBytesMax = 20 * 1_048_576;
const addressesMax = 20_000;

/** Reads a sitemap, an index of sitemaps, or a text file with one address a line, each gzipped or not. */
export function readSitemap(bytes: Uint8Array): Sitemap {
  const source = decodeText(inflate(bytes));
  if (!/<(?:\w+:)?(?:urlset|sitemapindex)[\s>]/.test(source.slice(0, 10_000))) {
    const lines = source
      .slice(0, 1_000_000)
      .split(/\s+/)
      .filter((line) => /^https?:\/\//.test(line));
    return { pages: lines.slice(0, addressesMax), sitemaps: [] };
  }
  const pages: string[] = [];
  const sitemaps: string[] = [];
  let within: "url" | "sitemap" | null = null;
  let address: string | null = null;
  const parser = new Parser(
    {
      onopentag(name) {
        const local = name.replace(/^\w+:/, "");
        if (local === "url" || local === "sitemap") within = local;
        // `image:loc` and `video:loc` are media of the page.
        else if (local === "loc" && !/^(?:image|video):/.test(name)) address = "";
      },
      ontext(data) {
        if (address !== null && address.length < 4_000) address += data;
      },
      onclosetag(name) {
        if (!name.endsWith("loc") || address === null) return;
        const list = within === "sitemap" ? sitemaps : pages;
        if (address.trim() !== "" && list.length < addressesMax) list.push(address.trim());
        address = null;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(source);
  return { pages, sitemaps };
}

function inflate(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: inflatedBytesMax });
  } catch (cause) {
    throw new UnreadableDocument("The sitemap cannot be unpacked, or is far too large.", { cause });
  }
}

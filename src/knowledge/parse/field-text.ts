import { Parser } from "htmlparser2";
import type { Block } from "#knowledge/documents/blocks.ts";
import { oneLine } from "#knowledge/documents/blocks.ts";
import { parseHtml } from "./html/html.ts";
import { parseText } from "./text.ts";

const markup = /<(?:p|br|li|[uo]l|b|i|em|strong|a|div|span|h[1-6]|table|blockquote)\b[^<>]{0,2000}>/i;

const entity = /&(?:[a-z]{2,8}|#\d{1,6}|#x[\da-f]{1,5});/i;

/** The blocks of a text in a field of a table or of JSON, which many exports write as HTML. Headings become paragraphs. */
export function fieldBlocks(text: string): readonly Block[] {
  const html = htmlOf(text);
  const { blocks } = html === undefined ? parseText(withoutEntities(text)) : parseHtml(html);
  return blocks.map((block) => (block.kind === "heading" ? { kind: "paragraph", text: block.text } : block));
}

/** The same in one line. */
export function fieldLine(text: string): string {
  if (htmlOf(text) === undefined) return oneLine(withoutEntities(text));
  const lines = fieldBlocks(text).map((block) => (block.kind === "row" ? block.cells.join(", ") : block.text));
  return oneLine(lines.join(" "));
}

/** Undefined: no HTML. Some exports escape it once more, from its first tag to its last. */
function htmlOf(text: string): string | undefined {
  if (markup.test(text)) return text;
  if (!/^\s*&lt;[a-z]/i.test(text)) return undefined;
  const decoded = withoutEntities(text).trim();
  return markup.test(decoded) && decoded.endsWith(">") ? decoded : undefined;
}

/** Some exports remove the tags, and leave the entities. */
function withoutEntities(text: string): string {
  if (!entity.test(text)) return text;
  let decoded = "";
  const parser = new Parser({ ontext: (data) => (decoded += data) }, { decodeEntities: true });
  parser.end(text.replaceAll("<", "&lt;"));
  return decoded;
}

/** Keys beside a question and its answer that mean nothing to a customer. */
const internal = new Set([
  "id",
  "uid",
  "uuid",
  "guid",
  "_id",
  "pk",
  "slug",
  "created_at",
  "updated_at",
  "createdat",
  "updatedat",
  "position",
  "draft",
  "state",
  "url",
  "html_url",
  "locale",
  "default_locale",
  "parent_type",
  "comments_disabled",
]);

export const isInternal = (key: string): boolean => {
  const plain = key.trim().toLowerCase();
  return internal.has(plain) || plain.endsWith("_id") || plain === "@type" || plain === "@id";
};

/** Keys of a post of WordPress that mean nothing to a customer. */
const ofPost = new Set([
  "date",
  "date_gmt",
  "modified",
  "modified_gmt",
  "status",
  "type",
  "link",
  "author",
  "excerpt",
  "featured_media",
  "comment_status",
  "ping_status",
  "sticky",
  "template",
  "format",
  "meta",
  "categories",
  "tags",
  "class_list",
  "_links",
]);

export const isOfPost = (key: string): boolean => ofPost.has(key);

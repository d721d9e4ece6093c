import { readableType } from "#knowledge/documents/file-types.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";

const types: ReadonlySet<ReadableType> = new Set<ReadableType>([
  "text/html",
  "text/plain",
  "text/markdown",
  "application/pdf",
]);

/** Undefined for a type that is not read. Markdown is recognised by the address, since many servers send it as plain text. */
export function pageType(
  contentType: string | null,
  url: string,
): { readonly type: ReadableType; readonly charset?: string } | undefined {
  const { pathname } = new URL(url);
  const given = contentType ?? "";
  const charset = /charset\s*=\s*"?([\w:.-]{1,40})/i.exec(given)?.[1];
  const sent = readableType("", given);
  const named = /\.(?:md|markdown)$/i.test(pathname) ? "text/markdown" : undefined;
  const type =
    given === "" ? (readableType(pathname, "") ?? "text/html") : sent === "text/plain" ? (named ?? sent) : sent;
  if (type === undefined || !types.has(type)) return undefined;
  return { type, ...(charset === undefined ? {} : { charset }) };
}

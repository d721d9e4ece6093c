import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { TSchema } from "typebox";
import { Type } from "typebox";

const partChars = 64 * 1_024;

/** The response of a route that sends a file. The API reference has its media type. */
export const fileResponse = (title: string, contentMediaType: string): TSchema =>
  Type.String({ title, contentMediaType });

/** Sends text as a file to save, as fast as the client takes it. The text is made while it is sent. */
export function sendDownload(
  reply: FastifyReply,
  file: { readonly name: string; readonly mediaType: string },
  lines: AsyncIterable<string>,
): FastifyReply {
  return reply
    .header("content-type", `${file.mediaType}; charset=utf-8`)
    .header("content-disposition", `attachment; filename="${file.name}"`)
    .header("cache-control", "no-store")
    .send(Readable.from(inParts(lines)));
}

async function* inParts(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let part = "";
  for await (const line of lines) {
    part += line;
    if (part.length < partChars) continue;
    yield part;
    part = "";
  }
  if (part !== "") yield part;
}

/**
 * A line of a CSV file (RFC 4180). Texts that spreadsheets would take for a formula begin with an apostrophe, which they
 * show as text.
 */
export const csvLine = (cells: readonly (string | null)[]): string =>
  `${cells.map((cell) => csvCell(cell ?? "")).join(",")}\r\n`;

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

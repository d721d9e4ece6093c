import type { IncomingHttpHeaders } from "node:http";
import type { Channel } from "#domain/conversation/message.ts";

/**
 * Whether a page of this origin may use the widget. An empty list allows every page. With a list, the origin must be one
 * of it to the letter: no sub-domain, no prefix or suffix of one, no missing or `null` origin. The hosted page is ours
 * and may always use its own channel.
 */
export function originAllowed(
  headers: Pick<IncomingHttpHeaders, "origin" | "host"> & {
    readonly "x-forwarded-host"?: string | string[] | undefined;
  },
  channel: Channel,
  allowedOrigins: readonly string[],
): boolean {
  if (allowedOrigins.length === 0) return true;
  const origin = headers.origin;
  if (origin === undefined || origin === "null") return false;
  if (allowedOrigins.some((allowed) => normal(allowed) === origin)) return true;
  if (channel !== "hosted" || !URL.canParse(origin)) return false;
  // A page cannot choose these headers of its own browser's handshake; only a proxy in front of us can.
  return [headers.host, headers["x-forwarded-host"]].includes(new URL(origin).host);
}

function normal(allowed: string): string {
  return URL.canParse(allowed) ? new URL(allowed).origin : allowed;
}

/** Of a request's headers, those that say which address it was made to. */
export function hostHeaders(headers: Readonly<Record<string, string>>): { host?: string; "x-forwarded-host"?: string } {
  const { host, "x-forwarded-host": forwarded } = headers;
  return {
    ...(host === undefined ? {} : { host }),
    ...(forwarded === undefined ? {} : { "x-forwarded-host": forwarded }),
  };
}

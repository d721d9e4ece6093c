import type { IncomingHttpHeaders } from "node:http";
import type { Channel } from "#domain/conversation/message.ts";

/**
 * Whether a page of this origin may use the widget. An empty list allows every page. Otherwise the origin must equal an
 * entry: no sub-domain, prefix or suffix of one, and no missing or `null` origin. The hosted page may always use its own
 * channel.
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
  if (allowedOrigins.some((allowed) => originOf(allowed) === origin)) return true;
  if (channel !== "hosted" || !URL.canParse(origin)) return false;
  // Pages cannot set these headers of a handshake; only a proxy in front of the server can.
  return [headers.host, headers["x-forwarded-host"]].includes(new URL(origin).host);
}

function originOf(allowed: string): string {
  return URL.canParse(allowed) ? new URL(allowed).origin : allowed;
}

/** The headers that name the address a request was made to. */
export function hostHeaders(headers: Readonly<Record<string, string>>): { host?: string; "x-forwarded-host"?: string } {
  const { host, "x-forwarded-host": forwarded } = headers;
  return {
    ...(host === undefined ? {} : { host }),
    ...(forwarded === undefined ? {} : { "x-forwarded-host": forwarded }),
  };
}

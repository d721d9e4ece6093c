import type { WebResponse } from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { hostHeaders, originAllowed } from "./origins.ts";

/** Whether the page of a POST may use the widget. Browsers send no Origin with requests to a page's own server. */
export function postAllowed(
  headers: Readonly<Record<string, string>>,
  channel: Channel,
  allowedOrigins: readonly string[],
): boolean {
  const { origin } = headers;
  if (origin === undefined) return channel === "hosted" || allowedOrigins.length === 0;
  return originAllowed({ origin, ...hostHeaders(headers) }, channel, allowedOrigins);
}

export function preflight(origin: string | undefined): WebResponse {
  return {
    status: 204,
    headers: {
      ...crossOrigin(origin),
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "authorization, content-type",
      "Access-Control-Max-Age": "600",
    },
  };
}

export function answer(status: number, body: object, origin: string | undefined): WebResponse {
  return {
    status,
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Cache-Control": "no-store",
      ...crossOrigin(origin),
    },
    body: JSON.stringify(body),
  };
}

const crossOrigin = (origin: string | undefined): Record<string, string> => ({
  Vary: "Origin",
  "Cross-Origin-Resource-Policy": "cross-origin",
  ...(origin === undefined ? {} : { "Access-Control-Allow-Origin": origin }),
});

import type { FastifyReply, FastifyRequest } from "fastify";
import type { WebRequest, WebResponse } from "#channels/contract.ts";
import { retryAfterDefaultS } from "#http/problem.ts";

/** Sends the response of an adapter. */
export type SendWebResponse = (reply: FastifyReply, response: WebResponse) => FastifyReply;

export function createSendWebResponse(publicUrl: string): SendWebResponse {
  const secure = publicUrl.startsWith("https:");
  return function sendWebResponse(reply, response) {
    reply.code(response.status);
    reply.header("referrer-policy", "strict-origin-when-cross-origin");
    if (secure) reply.header("strict-transport-security", "max-age=31536000");
    if (response.status === 503) reply.header("retry-after", String(retryAfterDefaultS));
    for (const [name, value] of Object.entries(response.headers ?? {})) reply.header(name, value);
    return reply.send(response.body ?? "");
  };
}

/** A request in the form that adapters take. */
export function webRequestOf(request: FastifyRequest): WebRequest {
  const [path = "/", query = ""] = splitOnce(request.originalUrl);
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.push([name, Array.isArray(value) ? value.join(", ") : value]);
  }
  return {
    method: request.method,
    path,
    query: query === "" ? {} : Object.fromEntries(new URLSearchParams(query)),
    headers: Object.fromEntries(headers),
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    remoteAddress: request.remoteAddress,
  };
}

function splitOnce(url: string): readonly string[] {
  const at = url.indexOf("?");
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

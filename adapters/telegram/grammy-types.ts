import type { Readable } from "node:stream";
import type { Api } from "grammy";
import type { AbortLike, PlatformFetch, PlatformResponse } from "#channel/platform-fetch.ts";

/** grammY is typed against a package's own AbortSignal, and works with the platform's. */
export function grammySignal(signal: AbortSignal): NonNullable<Parameters<Api["getMe"]>[0]> {
  return signal as unknown as NonNullable<Parameters<Api["getMe"]>[0]>;
}

/** As much as grammY gives to `fetch`; it has time limits of its own. */
interface GrammyRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  readonly signal: AbortLike;
}

/** grammY is typed against a package's own fetch, and reads of a response only its JSON. */
export function grammyFetch(send: PlatformFetch): (url: string, request: GrammyRequest) => Promise<PlatformResponse> {
  return (url, { method, headers, body, signal }) => send(url, { method, headers, body, signal });
}

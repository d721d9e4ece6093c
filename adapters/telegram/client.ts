import type { Readable } from "node:stream";
import type { Api } from "grammy";
import { retryAfterOf } from "#channels/http/foreign-response.ts";
import type { AbortLike, PlatformFetch, PlatformResponse } from "#channels/http/platform-fetch.ts";

/** grammY's types want the AbortSignal of a package; the platform's works. */
export function grammySignal(signal: AbortSignal): NonNullable<Parameters<Api["getMe"]>[0]> {
  return signal as unknown as NonNullable<Parameters<Api["getMe"]>[0]>;
}

/** The options that grammY passes to `fetch`. grammY sets its own time limits. */
interface GrammyRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  readonly signal: AbortLike;
}

/** grammY's types want the fetch of a package; grammY reads only a response's JSON. */
export function grammyFetch(send: PlatformFetch): (url: string, request: GrammyRequest) => Promise<PlatformResponse> {
  return async (url, { method, headers, body, signal }) => {
    const response = await send(url, { method, headers, body, signal });
    return { ...response, json: () => botApiAnswer(response) };
  };
}

/** A response that is not from the Bot API. grammY accepts any JSON. */
export class ForeignAnswer extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor({ status, headers }: Pick<PlatformResponse, "status" | "headers">) {
    super(`HTTP ${status}, not of the Bot API`);
    this.name = "ForeignAnswer";
    this.status = status;
    this.retryAfterMs = retryAfterOf(headers.get("retry-after"));
  }
}

async function botApiAnswer(response: PlatformResponse): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await response.json();
  } catch {
    throw new ForeignAnswer(response);
  }
  const { ok, result, error_code: code } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (ok === true ? result === undefined : ok !== false || typeof code !== "number") throw new ForeignAnswer(response);
  return answer;
}

import type { RESTOptions } from "discord.js";
import { REST } from "discord.js";
import type { GuardedLookup } from "#channels/http/guarded-connect.ts";
import type { PlatformFetch } from "#channels/http/platform-fetch.ts";
import { createPlatformFetch } from "#channels/http/platform-fetch.ts";

const timeoutMs = 15_000;
/** The longest wait for Discord's global limit of fifty calls a second. */
const waitMaxMs = 1_500;

/** Calls of Discord's API, without retries: the host decides what may be sent again. */
export interface Calls {
  get(route: `/${string}`, signal?: AbortSignal, query?: URLSearchParams): Promise<unknown>;
  post(route: `/${string}`, body: unknown, signal?: AbortSignal, files?: readonly NamedBytes[]): Promise<unknown>;
  patch(route: `/${string}`, body: unknown, signal?: AbortSignal): Promise<unknown>;
  put(route: `/${string}`, signal?: AbortSignal): Promise<void>;
  delete(route: `/${string}`, signal?: AbortSignal): Promise<void>;
}

export interface NamedBytes {
  readonly name: string;
  readonly data: Buffer;
  readonly contentType: string;
}

export function createRest(token: string, baseUrl: string | undefined, lookup?: GuardedLookup): REST {
  return new REST({
    retries: 0,
    timeout: timeoutMs,
    makeRequest: requestBy(createPlatformFetch(lookup)),
    // The host handles longer waits: it holds back this conversation only.
    rejectOnRateLimit: ({ retryAfter, timeToReset }) => Math.max(retryAfter, timeToReset) > waitMaxMs,
    ...(baseUrl === undefined ? {} : { api: baseUrl }),
  }).setToken(token);
}

type MakeRequest = RESTOptions["makeRequest"];

/**
 * Replaces discord.js's own fetch. That one uses the dispatcher that all versions of undici in the process share, and
 * fails on forms with files when another version has set it.
 */
function requestBy(send: PlatformFetch): MakeRequest {
  return async (url, { method, headers, body, signal }) => {
    const form = body instanceof FormData ? new Response(body) : undefined;
    const type = form?.headers.get("content-type");
    const answer = await send(url, {
      ...(method === undefined ? {} : { method }),
      headers: {
        ...(headers as Readonly<Record<string, string>>),
        ...(typeof type === "string" ? { "content-type": type } : {}),
      },
      body: form === undefined ? (body as string | null | undefined) : new Uint8Array(await form.arrayBuffer()),
      ...(signal === undefined || signal === null ? {} : { signal }),
    });
    return { ...answer, body: null, bodyUsed: false, headers: new Headers([...answer.headers.entries()]) };
  };
}

export function createCalls(rest: REST, token: string): Calls {
  // discord.js drops the token after a 401, though the next call may succeed.
  const ready = (): REST => rest.setToken(token);
  const given = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
  return {
    get: (route, signal, query) => ready().get(route, { ...given(signal), ...(query === undefined ? {} : { query }) }),
    post: (route, body, signal, files) =>
      ready().post(route, { body, ...given(signal), ...(files === undefined ? {} : { files: [...files] }) }),
    patch: (route, body, signal) => ready().patch(route, { body, ...given(signal) }),
    async put(route, signal) {
      await ready().put(route, given(signal));
    },
    async delete(route, signal) {
      await ready().delete(route, given(signal));
    },
  };
}

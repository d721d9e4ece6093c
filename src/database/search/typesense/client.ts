import { setTimeout as pause } from "node:timers/promises";

// Plain HTTP and not the client package: that one sets no time limit on an import, so that a server that hangs would
// hold the work for ever; its errors carry the request's body, which is what customers wrote; and it writes to the
// console by itself.

export interface TypesenseOptions {
  /** One server, or all nodes of a cluster. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  /** Told of each request how it ended and how long it took. */
  readonly observe?: (outcome: "answered" | "away", seconds: number) => void;
}

export const unanswered = "Typesense does not answer";

/** No server answers, or none can now: to be tried again. */
export class TypesenseAway extends Error {
  /** What it answered with, where it answered. */
  readonly status: number | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly status?: number | undefined }) {
    super(message, options);
    this.name = "TypesenseAway";
    this.status = options?.status;
  }
}

export interface TypesenseAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Typesense {
  /** Any answer below 500 is the caller's to judge. Throws {@link TypesenseAway}. */
  request(method: "GET" | "POST" | "PUT" | "DELETE", path: string, options?: RequestOptions): Promise<TypesenseAnswer>;
}

interface RequestOptions {
  /** JSON lines as text, everything else as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const answerBytesMax = 16_000_000;
const defaultTimeoutMs = 3_000;
/** So long others wait for the one that finds out whether a server still hangs. */
const tryMs = 200;
const nothing = (): void => undefined;

export function createTypesense({ urls, apiKey, observe }: TypesenseOptions): Typesense {
  /** The node that answered last is asked first. */
  let preferred = 0;
  /** The last request that was to be answered soon was not; then one at a time finds out whether the next one is. */
  let hangs = false;
  let trying: Promise<void> | undefined;

  async function ask(url: string, method: string, path: string, options: RequestOptions): Promise<TypesenseAnswer> {
    const { body, timeoutMs = defaultTimeoutMs, signal } = options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        "x-typesense-api-key": apiKey,
        ...(body === undefined ? {} : { "content-type": typeof body === "string" ? "text/plain" : "application/json" }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      // The key goes to the servers that were named, and to no other.
      redirect: "error",
    });
    const text = await textOf(response);
    if (response.status >= 500)
      throw new TypesenseAway(`it answered ${response.status}${reasonOf(text)}`, { status: response.status });
    return { status: response.status, text };
  }

  return {
    async request(method, path, options = {}) {
      const isQuick = (options.timeoutMs ?? defaultTimeoutMs) <= defaultTimeoutMs;
      if (!isQuick || !hangs) return requestAll(method, path, options, isQuick);
      if (trying !== undefined) {
        // However many there are: each would take seconds, and hold up what does not need this server.
        await Promise.race([trying, pause(tryMs, undefined, { ref: false })]);
        if (hangs) throw new TypesenseAway(`${unanswered}: no answer in time`);
        return requestAll(method, path, options, isQuick);
      }
      const answer = requestAll(method, path, options, isQuick);
      trying = answer.then(nothing, nothing).finally(() => {
        trying = undefined;
      });
      return answer;
    },
  };

  async function requestAll(
    method: string,
    path: string,
    options: RequestOptions,
    isQuick: boolean,
  ): Promise<TypesenseAnswer> {
    // A single server is asked twice: a connection that was kept may have ended with the server's last restart.
    const attempts = Math.max(2, urls.length);
    let failure: unknown;
    const began = performance.now();
    const ended = (outcome: "answered" | "away"): void => observe?.(outcome, (performance.now() - began) / 1_000);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const node = (preferred + attempt) % urls.length;
      try {
        const answer = await ask(urls[node] ?? "", method, path, options);
        preferred = node;
        hangs = false;
        ended("answered");
        return answer;
      } catch (error) {
        if (options.signal?.aborted === true) throw error;
        failure = error;
        // One that has just hung would hang again.
        if (urls.length === 1 && isTimeout(error)) break;
      }
    }
    hangs = isQuick && isTimeout(failure);
    ended("away");
    const status = failure instanceof TypesenseAway ? failure.status : undefined;
    throw new TypesenseAway(`${unanswered}: ${messageOf(failure)}`, { cause: failure, status });
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > answerBytesMax) throw new Error("it answered with more than can be its answer");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

/** Why a connection failed is in the cause of what `fetch` throws. */
function messageOf(error: unknown): string {
  if (isTimeout(error)) return "no answer in time";
  if (!(error instanceof Error)) return "unknown failure";
  const { cause } = error;
  const code = (cause as { readonly code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : error.message;
}

/** The server's own words, in short. */
export function reasonOf(text: string): string {
  try {
    const { message, resource_error: lacks } = JSON.parse(text) as {
      readonly message?: unknown;
      readonly resource_error?: unknown;
    };
    const reason = message ?? lacks;
    return typeof reason === "string" ? ` (${reason.slice(0, 200)})` : "";
  } catch {
    return "";
  }
}

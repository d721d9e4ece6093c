import { setTimeout as pause } from "node:timers/promises";

// Plain HTTP instead of the client package, which sets no time limit on imports, includes request bodies with customers'
// texts in its errors, and writes to the console.

export interface TypesenseOptions {
  /** Address of a server, or of all nodes of a cluster. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  /** Called for each request with its outcome and duration. */
  readonly observe?: (outcome: "answered" | "away", seconds: number) => void;
}

export const unanswered = "Typesense does not answer";

/** No server answers, or none can serve the request now. A later attempt may succeed. */
export class TypesenseAway extends Error {
  /** HTTP status, where a server answered. */
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
  /** Returns any answer below 500. Throws {@link TypesenseAway}. */
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
/** How long other requests wait for the one that tests a hanging server. */
const tryMs = 200;
const nothing = (): void => undefined;

export function createTypesense({ urls, apiKey, observe }: TypesenseOptions): Typesense {
  /** Index of the node that answered last, which is tried first. */
  let preferred = 0;
  /** The last request timed out. One request at a time then tests the server. */
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
      // The key must not follow a redirect to another server.
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
        // Each of these requests could take seconds, and delay work that does not need this server.
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
    // A single server is tried twice, since a kept connection may have ended with a restart of the server.
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
        // A server that timed out is not tried again at once.
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

/** The reason of a failed connection is in the cause of fetch's error. */
function messageOf(error: unknown): string {
  if (isTimeout(error)) return "no answer in time";
  if (!(error instanceof Error)) return "unknown failure";
  const { cause } = error;
  const code = (cause as { readonly code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : error.message;
}

/** The server's error message, shortened. */
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

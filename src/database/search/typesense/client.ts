import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "typesense";

// The official client makes the requests, and this file sends them: by itself the client sets no time limit on imports,
// follows redirects with the key, and includes the key and customers' texts in its errors.

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

/** A client for one request, which throws {@link TypesenseAway}. `what` is for its message, as in "refused to search". */
export type Typesense = (what: string, limits?: Limits) => Client;

interface Limits {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const answerBytesMax = 16_000_000;
const defaultTimeoutMs = 3_000;
/** How long other requests wait for the one that tests a hanging server. */
const tryMs = 200;
const nothing = (): void => undefined;

export async function createTypesense({ urls, apiKey, observe }: TypesenseOptions): Promise<Typesense> {
  // Loaded only by installations with Typesense. The bundle keeps only the default of a CommonJS package.
  const { default: library } = await import("typesense");
  /** Index of the node that answered last, which is tried first. */
  let preferred = 0;
  /** The last request timed out. One request at a time then tests the server. */
  let hangs = false;
  let trying: Promise<void> | undefined;

  async function ask(url: string, init: RequestInit, { timeoutMs, signal }: Limits): Promise<Answer> {
    const timeout = AbortSignal.timeout(timeoutMs ?? defaultTimeoutMs);
    const response = await fetch(url, {
      ...init,
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      // The key must not follow a redirect to another server.
      redirect: "error",
    });
    const text = await textOf(response);
    if (response.status >= 500)
      throw new TypesenseAway(`it answered ${response.status}${reasonOf(text)}`, { status: response.status });
    return { status: response.status, text };
  }

  /** Returns any answer below 500. */
  async function send(path: string, init: RequestInit, limits: Limits): Promise<Answer> {
    const isQuick = (limits.timeoutMs ?? defaultTimeoutMs) <= defaultTimeoutMs;
    if (!isQuick || !hangs) return askAll(path, init, limits, isQuick);
    if (trying !== undefined) {
      // Each of these requests could take seconds, and delay work that does not need this server.
      await Promise.race([trying, pause(tryMs, undefined, { ref: false })]);
      if (hangs) throw new TypesenseAway(`${unanswered}: no answer in time`);
      return askAll(path, init, limits, isQuick);
    }
    const answer = askAll(path, init, limits, isQuick);
    trying = answer.then(nothing, nothing).finally(() => {
      trying = undefined;
    });
    return answer;
  }

  async function askAll(path: string, init: RequestInit, limits: Limits, isQuick: boolean): Promise<Answer> {
    // A single server is tried twice, since a kept connection may have ended with a restart of the server.
    const attempts = Math.max(2, urls.length);
    let failure: unknown;
    const began = performance.now();
    const ended = (outcome: "answered" | "away"): void => observe?.(outcome, (performance.now() - began) / 1_000);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const node = (preferred + attempt) % urls.length;
      try {
        const answer = await ask(`${urls[node]}${path}`, init, limits);
        preferred = node;
        hangs = false;
        ended("answered");
        return answer;
      } catch (error) {
        if (limits.signal?.aborted === true) throw error;
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

  return (what, limits = {}) =>
    new library.Client({
      // Servers and key are not told to the client, so that it can neither send nor disclose the key.
      nodes: [{ url: "" }],
      apiKey: "",
      numRetries: 0,
      logLevel: "silent",
      async axiosAdapter(config) {
        // `throwOnFail` is for the client itself, which sends it all the same.
        const { throwOnFail: _, ...query } = { ...(config.params as Readonly<Record<string, string>> | undefined) };
        const parameters = new URLSearchParams(query).toString();
        const contentType = String(config.headers.getContentType());
        const path = `${config.url}${parameters === "" ? "" : `?${parameters}`}`;
        const headers = { "x-typesense-api-key": apiKey, "content-type": contentType };
        const body = (config.data as string | undefined) ?? null;
        const { status, text } = await send(path, { method: config.method ?? "get", headers, body }, limits);
        if (status >= 300) throw refusal(what, status, text);
        // An import is answered with lines, too.
        const data = contentType === "text/plain" ? text : parse(text, status);
        return { data, status, statusText: "", headers: {}, config };
      },
    });
}

/** Whether the server answered, and did not do what it was asked for. `status`: with this status. */
export const isRefusal = (error: unknown, status?: number): error is TypesenseAway & { readonly status: number } =>
  error instanceof TypesenseAway && (error.status ?? 500) < 500 && error.status === (status ?? error.status);

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

/** The error for a refused request, with the fix where there is one. */
function refusal(what: string, status: number, text: string): TypesenseAway {
  const hint = status === 401 || status === 403 ? ": check TYPESENSE_API_KEY" : "";
  // The work itself is valid, so it is retried until the operator has fixed the server.
  return new TypesenseAway(`Typesense refused to ${what} with ${status}${reasonOf(text)}${hint}`, { status });
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The cause would quote the answer.
    throw new TypesenseAway("its answer was cut off", { status });
  }
}

/** The server's error message, shortened. */
function reasonOf(text: string): string {
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

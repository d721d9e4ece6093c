import type { CircuitBreaker } from "./circuit-breaker.ts";
import { ModelAway, ModelPaused, TextRefused } from "./model-away.ts";

/** A server that answers JSON to JSON: one that embeds texts, or one that orders them. */
export interface ModelServer {
  /** In errors: "the embedding server". */
  readonly title: string;
  /** The beginning of its variables' names, for errors that say what to check. */
  readonly variables: "EMBEDDING" | "RERANKER";
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly answerBytesMax: number;
}

/** Resolves with the answer's JSON. Throws {@link ModelAway}, and {@link TextRefused} if the server refuses a text. */
export async function askModelServer(
  server: ModelServer,
  body: object,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  let status: number;
  let text: string;
  try {
    const response = await fetch(server.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(server.apiKey === undefined ? {} : { authorization: `Bearer ${server.apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      // The key must not follow a redirect to another address.
      redirect: "error",
    });
    status = response.status;
    text = await bounded(response, server.answerBytesMax);
  } catch (error) {
    signal?.throwIfAborted();
    const reason = timeout.aborted ? "it does not answer in time" : `it cannot be reached${codeOf(error)}`;
    throw new ModelAway(`${server.title}: ${reason}`, { cause: error });
  }
  requireSuccess(status, server);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ModelAway(`${server.title}'s answer could not be read`, { cause: error });
  }
}

export function throwIfPaused(breaker: CircuitBreaker, title: string): void {
  if (!breaker.isOpen() || breaker.waitMs() <= 0) return;
  throw new ModelPaused(`${title} is not called for a while; the last failure: ${breaker.trouble() ?? ""}`);
}

function requireSuccess(status: number, { title, variables }: ModelServer): void {
  if (status === 401 || status === 403)
    throw new ModelAway(`${title} refuses the key with ${status}: check ${variables}_API_KEY`);
  if (status === 404) throw new ModelAway(`${title} answers 404: check ${variables}_BASE_URL and ${variables}_NAME`);
  if (status === 400 || status === 413 || status === 422)
    throw new TextRefused(`${title} refuses a text with ${status}`);
  if (status !== 200) throw new ModelAway(`${title} answers ${status}`, { status });
}

async function bounded(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function codeOf(error: unknown): string {
  const { cause } = (error ?? {}) as { readonly cause?: { readonly code?: unknown } };
  return typeof cause?.code === "string" && /^[A-Z][A-Z0-9_]{2,40}$/.test(cause.code) ? ` (${cause.code})` : "";
}

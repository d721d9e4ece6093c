import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "#runtime/clock.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import type { Embedder } from "./embedding.ts";
import { EmbedderAway, TextRefused } from "./embedding.ts";
import type { EmbeddingServer } from "#config/environment.ts";

const triesMax = 3;
const retryMs = 500;
const timeoutMs = { background: 60_000, question: 2_000 } as const;
const answerBytesMax = 64_000_000;
const dimensionsMax = 8_192;

/** Calls a server with OpenAI's API at `/embeddings`. */
export function createEmbedder(config: EmbeddingServer, clock: Clock): Embedder {
  const url = `${config.baseUrl}/embeddings`;
  const prefixes = config.prefixes ?? "auto";
  const breaker = createCircuitBreaker(clock);
  /** All vectors of a model have the same length. */
  let dimensions: number | undefined;

  async function once(
    texts: readonly string[],
    purpose: keyof typeof timeoutMs,
    signal: AbortSignal | undefined,
  ): Promise<readonly Float32Array[]> {
    const timeout = AbortSignal.timeout(timeoutMs[purpose]);
    let status: number;
    let text: string;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(config.apiKey === undefined ? {} : { authorization: `Bearer ${config.apiKey}` }),
        },
        body: JSON.stringify({ model: config.name, input: texts, encoding_format: "float" }),
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
        // The key must not follow a redirect to another address.
        redirect: "error",
      });
      status = response.status;
      text = await bounded(response);
    } catch (error) {
      signal?.throwIfAborted();
      const reason = timeout.aborted ? "it does not answer in time" : `it cannot be reached${codeOf(error)}`;
      throw new EmbedderAway(`the embedding server: ${reason}`, { cause: error });
    }
    requireSuccess(status);
    return vectorsIn(text, texts.length);
  }

  function vectorsIn(text: string, count: number): readonly Float32Array[] {
    let data: unknown;
    try {
      ({ data } = JSON.parse(text) as { readonly data?: unknown });
    } catch (error) {
      throw new EmbedderAway("the embedding server's answer could not be read", { cause: error });
    }
    if (!Array.isArray(data) || data.length !== count)
      throw new EmbedderAway("the embedding server answers with another number of vectors than was asked for");
    const vectors = new Map<number, Float32Array>();
    for (const [at, each] of (data as readonly unknown[]).entries()) {
      const { embedding, index = at } = (each ?? {}) as { readonly embedding?: unknown; readonly index?: unknown };
      const vector = unit(embedding);
      if (typeof index !== "number" || vector === undefined || vectors.has(index))
        throw new EmbedderAway("the embedding server answers with what is no vector");
      dimensions ??= vector.length;
      if (vector.length !== dimensions)
        throw new EmbedderAway(
          `the embedding server answers with vectors of ${vector.length} and of ${dimensions} numbers`,
        );
      vectors.set(index, vector);
    }
    return Array.from({ length: count }, (_, index) => {
      const vector = vectors.get(index);
      if (vector === undefined) throw new EmbedderAway("the embedding server leaves out a vector");
      return vector;
    });
  }

  return {
    model: `${config.provider}:${config.name}`,
    server: {
      key: hash("sha256", JSON.stringify([url, config.name, prefixes]), "base64url"),
      prefixes,
    },
    trouble: breaker.trouble,
    async embed(texts, purpose, signal) {
      if (breaker.isOpen() && breaker.waitMs() > 0) {
        const last = breaker.trouble() ?? "";
        throw new EmbedderAway(`the embedding server is left alone for a while; the last failure: ${last}`);
      }
      for (let attempt = 1; ; attempt += 1) {
        try {
          const vectors = await once(texts, purpose, signal);
          breaker.succeeded();
          return vectors;
        } catch (error) {
          if (!(error instanceof EmbedderAway)) throw error;
          if (purpose === "background" && attempt < triesMax) {
            await pause(retryMs * 2 ** (attempt - 1));
            continue;
          }
          breaker.failed(error.message);
          throw error;
        }
      }
    },
  };
}

/** Called by the command `doctor`: makes one vector. Resolves with a description; rejects with what to fix. */
export async function checkEmbedder(config: EmbeddingServer, clock: Clock): Promise<string> {
  const [vector] = await createEmbedder(config, clock).embed(["Hello"], "question");
  return `${config.name}, vectors of ${vector?.length ?? 0} numbers`;
}

function requireSuccess(status: number): void {
  if (status === 401 || status === 403)
    throw new EmbedderAway(`the embedding server refuses the key with ${status}: check EMBEDDING_API_KEY`);
  if (status === 404)
    throw new EmbedderAway("the embedding server answers 404: check EMBEDDING_BASE_URL and EMBEDDING_NAME");
  if (status === 400 || status === 413 || status === 422)
    throw new TextRefused(`the embedding server refuses a text with ${status}`);
  if (status !== 200) throw new EmbedderAway(`the embedding server answers ${status}`);
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > answerBytesMax) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Scales a vector to length 1, so that the dot product measures similarity. Undefined for anything else. */
function unit(given: unknown): Float32Array | undefined {
  if (!Array.isArray(given) || given.length === 0 || given.length > dimensionsMax) return undefined;
  const numbers = given as readonly unknown[];
  if (!numbers.every((each) => typeof each === "number" && Number.isFinite(each))) return undefined;
  const length = Math.hypot(...(numbers as readonly number[]));
  if (length === 0 || !Number.isFinite(length)) return undefined;
  return Float32Array.from(numbers as readonly number[], (each) => each / length);
}

function codeOf(error: unknown): string {
  const { cause } = (error ?? {}) as { readonly cause?: { readonly code?: unknown } };
  return typeof cause?.code === "string" && /^[A-Z][A-Z0-9_]{2,40}$/.test(cause.code) ? ` (${cause.code})` : "";
}

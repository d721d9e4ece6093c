import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "#runtime/clock.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import type { Embedder } from "./embedding.ts";
import { ModelAway } from "./model-away.ts";
import type { ModelServer } from "./model-server.ts";
import { askModelServer, throwIfPaused } from "./model-server.ts";
import type { EmbeddingServer } from "#config/models.ts";

const triesMax = 3;
const retryMs = 500;
const timeoutMs = { background: 60_000, question: 2_000 } as const;
const dimensionsMax = 8_192;

/** Calls a server with OpenAI's API at `/embeddings`. */
export function createEmbedder(config: EmbeddingServer, clock: Clock): Embedder {
  const server: ModelServer = {
    title: "the embedding server",
    variables: "EMBEDDING",
    url: `${config.baseUrl}/embeddings`,
    apiKey: config.apiKey,
    answerBytesMax: 64_000_000,
  };
  const prefixes = config.prefixes ?? "auto";
  const breaker = createCircuitBreaker(clock);
  /** All vectors of a model have the same length. */
  let dimensions: number | undefined;

  function vectorsIn(answer: unknown, count: number): readonly Float32Array[] {
    const { data } = (answer ?? {}) as { readonly data?: unknown };
    if (!Array.isArray(data) || data.length !== count)
      throw new ModelAway("the embedding server answers with another number of vectors than was asked for");
    const vectors = new Map<number, Float32Array>();
    for (const [at, each] of (data as readonly unknown[]).entries()) {
      const { embedding, index = at } = (each ?? {}) as { readonly embedding?: unknown; readonly index?: unknown };
      const vector = unit(embedding);
      if (typeof index !== "number" || vector === undefined || vectors.has(index))
        throw new ModelAway("the embedding server answers with what is no vector");
      dimensions ??= vector.length;
      if (vector.length !== dimensions)
        throw new ModelAway(
          `the embedding server answers with vectors of ${vector.length} and of ${dimensions} numbers`,
        );
      vectors.set(index, vector);
    }
    return Array.from({ length: count }, (_, index) => {
      const vector = vectors.get(index);
      if (vector === undefined) throw new ModelAway("the embedding server leaves out a vector");
      return vector;
    });
  }

  return {
    model: `${config.provider}:${config.name}`,
    server: {
      key: hash("sha256", JSON.stringify([server.url, config.name, prefixes]), "base64url"),
      prefixes,
    },
    trouble: breaker.trouble,
    async embed(texts, purpose, signal) {
      throwIfPaused(breaker, server.title);
      for (let attempt = 1; ; attempt += 1) {
        try {
          const body = { model: config.name, input: texts, encoding_format: "float" };
          const vectors = vectorsIn(await askModelServer(server, body, timeoutMs[purpose], signal), texts.length);
          breaker.succeeded();
          return vectors;
        } catch (error) {
          if (!(error instanceof ModelAway)) throw error;
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

/** Scales a vector to length 1, so that the dot product measures similarity. Undefined for anything else. */
function unit(given: unknown): Float32Array | undefined {
  if (!Array.isArray(given) || given.length === 0 || given.length > dimensionsMax) return undefined;
  const numbers = given as readonly unknown[];
  if (!numbers.every((each) => typeof each === "number" && Number.isFinite(each))) return undefined;
  const length = Math.hypot(...(numbers as readonly number[]));
  if (length === 0 || !Number.isFinite(length)) return undefined;
  return Float32Array.from(numbers as readonly number[], (each) => each / length);
}

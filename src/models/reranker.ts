import type { Clock } from "#runtime/clock.ts";
import type { RerankerServer } from "#config/models.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { ModelAway, TextRefused } from "./model-away.ts";
import type { ModelServer } from "./model-server.ts";
import { askModelServer, throwIfPaused } from "./model-server.ts";
import type { Reranker, RerankRequest } from "./reranking.ts";

/**
 * Characters of a text that are sent. Some servers refuse longer texts than their model reads, often 512 tokens: with 400,
 * or with 500 as llama.cpp does. Refused texts are sent once more with the second number.
 */
const textCharacters = { most: 1_500, fewer: 500 } as const;
/** A long message tells a story first, and asks at its end. */
const queryCharacters = 500;
const checkMs = 10_000;

/** Calls a server with Cohere's API at `/rerank`, as Jina, vLLM and llama.cpp have it too. */
export function createReranker(config: RerankerServer, clock: Clock): Reranker {
  const server: ModelServer = {
    title: "the reranker",
    variables: "RERANKER",
    url: `${config.baseUrl}/rerank`,
    apiKey: config.apiKey,
    answerBytesMax: 1_000_000,
  };
  const breaker = createCircuitBreaker(clock);
  let readable: number = textCharacters.most;

  async function order(
    { query, texts, count }: RerankRequest,
    characters: number,
    leftMs: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly number[]> {
    // A character that the cut divides would be refused.
    const documents = texts.map((text) => text.slice(0, characters).toWellFormed());
    const body = { model: config.name, query: query.slice(-queryCharacters).toWellFormed(), documents, top_n: count };
    return orderIn(await askModelServer(server, body, Math.max(0, leftMs), signal), texts.length).slice(0, count);
  }

  async function orderShortened(request: RerankRequest, signal: AbortSignal | undefined): Promise<readonly number[]> {
    const begun = performance.now();
    try {
      return await order(request, readable, request.timeoutMs, signal);
    } catch (error) {
      const isRefused = error instanceof TextRefused;
      const isTooLong = isRefused || (error instanceof ModelAway && error.status === 500);
      if (!isTooLong || readable === textCharacters.fewer) throw error;
      const leftMs = request.timeoutMs - (performance.now() - begun);
      const best = await order(request, textCharacters.fewer, leftMs, signal);
      if (isRefused) readable = textCharacters.fewer;
      return best;
    }
  }

  return {
    trouble: breaker.trouble,
    async rank(request, signal) {
      throwIfPaused(breaker, server.title);
      try {
        const best = await orderShortened(request, signal);
        breaker.succeeded();
        return best;
      } catch (error) {
        if (error instanceof ModelAway || error instanceof TextRefused) breaker.failed(error.message);
        throw error;
      }
    },
  };
}

/** Called by the command `doctor`: orders two texts. Resolves with a description; rejects with what to fix. */
export async function checkReranker(config: RerankerServer, clock: Clock): Promise<string> {
  const texts = ["The shop opens at nine.", "Parcels arrive within three days."];
  const request = { query: "When does my parcel arrive?", texts, count: 2, timeoutMs: checkMs };
  const [first] = await createReranker(config, clock)
    .rank(request)
    .catch((error: unknown) => {
      if (!(error instanceof TextRefused)) throw error;
      throw new Error(`${error.message}, although the texts are short: check RERANKER_NAME`, { cause: error });
    });
  if (first !== 1) throw new Error(`${config.name} prefers a text that does not answer: is it a model for ranking?`);
  return config.name;
}

/** Best first. Texts that the server leaves out are not in it. */
function orderIn(answer: unknown, count: number): readonly number[] {
  const { results } = (answer ?? {}) as { readonly results?: unknown };
  if (!Array.isArray(results) || results.length === 0) throw new ModelAway("the reranker answers without results");
  const scores = new Map<number, number>();
  for (const each of results as readonly unknown[]) {
    const { index, relevance_score: score } = (each ?? {}) as {
      readonly index?: unknown;
      readonly relevance_score?: unknown;
    };
    const isKnown = typeof index === "number" && Number.isInteger(index) && index >= 0 && index < count;
    if (!isKnown || typeof score !== "number" || scores.has(index))
      throw new ModelAway("the reranker answers with a result that is not one of the texts, or has no score");
    scores.set(index, score);
  }
  return [...scores].toSorted(([, left], [, right]) => right - left).map(([index]) => index);
}

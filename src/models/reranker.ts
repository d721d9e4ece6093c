import type { Clock } from "#runtime/clock.ts";
import type { RerankerServer } from "#config/models.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { ModelAway, TextRefused } from "./model-away.ts";
import type { ModelServer } from "./model-server.ts";
import { askModelServer } from "./model-server.ts";
import type { Reranker, RerankRequest } from "./reranking.ts";

/**
 * Characters of a text that are sent. Some servers refuse longer texts than their model reads, often 512 tokens; a text
 * that is refused all the same is sent once more with the second number.
 */
const textCharacters = [1_500, 500] as const;
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

  async function order(
    { query, texts, count, timeoutMs }: RerankRequest,
    characters: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly number[]> {
    // A character that the cut divides would be refused.
    const cut = (text: string): string => text.slice(0, characters).toWellFormed();
    const body = { model: config.name, query: cut(query), documents: texts.map(cut), top_n: count };
    return orderIn(await askModelServer(server, body, timeoutMs, signal), texts.length).slice(0, count);
  }

  return {
    trouble: breaker.trouble,
    async rank(request, signal) {
      if (breaker.isOpen() && breaker.waitMs() > 0) {
        throw new ModelAway(`the reranker is left alone for a while; the last failure: ${breaker.trouble() ?? ""}`);
      }
      const [most, fewer] = textCharacters;
      try {
        const best = await order(request, most, signal).catch((error: unknown) => {
          if (error instanceof TextRefused) return order(request, fewer, signal);
          throw error;
        });
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
  const [first] = await createReranker(config, clock).rank(request);
  if (first !== 1) throw new Error(`${config.name} finds an answer where there is none: is it a model for ranking?`);
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

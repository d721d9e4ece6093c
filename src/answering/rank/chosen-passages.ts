import type { Log } from "#runtime/log.ts";
import type { Question } from "#answering/contract.ts";
import { ModelAway, ModelPaused, TextRefused } from "#models/model-away.ts";
import type { Reranker } from "#models/reranking.ts";
import type { Found } from "./search-further.ts";
import { merged } from "./search-further.ts";

/** Chooses the passages that a language model reads, best first. Undefined: there is no choice, see the log. */
export type ChoosePassages = (
  question: Question,
  queries: readonly string[],
  passages: readonly Found[],
  signal: AbortSignal,
) => Promise<readonly Found[] | undefined>;

/** An API client waits 30 seconds at most, for the language model's calls too. */
const timeoutMs: Readonly<Record<NonNullable<Question["whenModelFails"]>, number>> = { throw: 2_000, extract: 5_000 };

/** Lets a reranker choose `topK` passages: the best for each query, since a message can ask several things. */
export function createPassageChoice(reranker: Reranker, log: Log): ChoosePassages {
  return async ({ topK, whenModelFails = "extract" }, queries, passages, signal) => {
    const texts = passages.map(({ passage: { candidate } }) => `${candidate.title}\n${candidate.text}`);
    const request = { texts, count: topK, timeoutMs: timeoutMs[whenModelFails] };
    try {
      const orders = await Promise.all(queries.map((query) => reranker.rank({ ...request, query }, signal)));
      const rankings = orders.map((order) => order.flatMap((index) => passages[index] ?? []));
      return merged(rankings, topK);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelAway || error instanceof TextRefused)) throw error;
      log[error instanceof ModelPaused ? "debug" : "warn"](
        { reason: error.message },
        "reranker: passages stay in their order",
      );
      return undefined;
    }
  };
}

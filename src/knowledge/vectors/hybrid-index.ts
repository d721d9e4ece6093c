import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";
import { confirmed } from "#knowledge/index/confirmed-passages.ts";
import type { Calibration, Embedder } from "#models/embedding.ts";
import { ModelAway, TextRefused } from "#models/model-away.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "#knowledge/index/contract.ts";
import type { Near, VectorCache } from "./cache.ts";
import { comparedMax } from "./cache.ts";
import type { Vectors } from "./vectors.ts";

/** Share of the passages from which vectors count. A few new passages may wait for theirs. */
const embeddedFrom = 0.9;
/** Maximum number of passages found by vector. */
const nearMax = 30;
const questionCharactersMax = 2_000;

interface Nearest {
  /** Nearest first, with similarities on the scale of the built-in encoder. */
  readonly passages: readonly Near[];
  /** Undefined: similarities only order passages. */
  readonly calibration: Calibration | undefined;
}

const none: Nearest = { passages: [], calibration: undefined };

/**
 * Combines full-text search with vector search. Uses full-text search alone when the embedding server does not answer.
 */
export function createHybridIndex({
  words,
  vectors,
  embedder,
  read,
  log,
}: {
  readonly words: KnowledgeIndex;
  readonly vectors: VectorCache & Pick<Vectors, "encoderOf">;
  readonly embedder: Embedder;
  readonly read: Reader;
  readonly log: Log;
}): KnowledgeIndex {
  const nearOf = new WeakMap<object, Map<string, Promise<Nearest>>>();

  async function near({ text, workspaceId, limit, message, signal }: SearchRequest): Promise<Nearest> {
    const query = limit === 0 ? "" : (text?.() ?? "").slice(0, questionCharactersMax);
    if (query.trim() === "") return none;
    if (message === undefined) return nearText(workspaceId, query, signal);
    const byQuery = nearOf.get(message) ?? new Map<string, Promise<Nearest>>();
    nearOf.set(message, byQuery);
    const key = JSON.stringify([workspaceId, query]);
    const result = byQuery.get(key) ?? nearText(workspaceId, query, signal);
    byQuery.set(key, result);
    return result;
  }

  async function nearText(workspaceId: string, query: string, signal: AbortSignal | undefined): Promise<Nearest> {
    const encoder = await vectors.encoderOf(workspaceId);
    if (encoder === undefined) return none;
    const { calibration, onScale, question } = encoder;
    try {
      const [vector] = await embedder.embed([question + query], "question", signal);
      if (vector === undefined || vector.length === 0) return none;
      const passages = await vectors.nearest(workspaceId, vector, nearMax, signal);
      return {
        passages: passages.map((each) => ({ ...each, similarity: onScale(each.similarity) })),
        calibration,
      };
    } catch (error) {
      if (!(error instanceof ModelAway || error instanceof TextRefused)) throw error;
      log.debug({ reason: error.message }, "vectors: no vector for a question, searching by words");
      return none;
    }
  }

  return {
    ...words,
    async search(request): Promise<SearchResult> {
      const byWords = words.search(request);
      // An encoder in this process costs more than a search by words; a server is asked at the same time.
      if (embedder.isLocal === true && request.isEnough?.(await byWords) === true) return byWords;
      const [result, { passages: nearest, calibration }] = await Promise.all([byWords, near(request)]);
      // The full-text index has no passages when the workspace was deleted. Nothing must be shown then.
      if (nearest.length === 0 || result.chunkCount === 0) return result;
      // Passages that wait for their vectors would seem far, and the nearest one only the nearest of some.
      if (vectors.embedded(request.workspaceId) < embeddedFrom * Math.min(result.chunkCount, comparedMax))
        return result;
      const similarityOf = new Map(nearest.map(({ chunkId, similarity }) => [chunkId, similarity]));
      const found = new Set(result.candidates.map(({ chunkId }) => chunkId));
      const more = nearest.filter(({ chunkId }) => !found.has(chunkId)).map(({ chunkId }) => ({ id: chunkId }));
      // A passage beyond the nearest ones is no nearer than the last of them.
      const least = nearest.length < nearMax ? 0 : (nearest.at(-1)?.similarity ?? 0);
      // The others have no vector where fewer are found than asked for, and nothing is known of them.
      const unknown = calibration === undefined || nearest.length < nearMax ? {} : { similarity: least };
      const candidates = [...result.candidates, ...(await confirmed(read, more, request))].map((candidate) => {
        const similarity = similarityOf.get(candidate.chunkId);
        return { ...candidate, ...(similarity === undefined ? unknown : { similarity }) };
      });
      return { ...result, candidates, ...(calibration === undefined ? {} : { calibration }) };
    },
    async close() {
      await vectors.close();
      await embedder.close?.();
      await words.close();
    },
  };
}

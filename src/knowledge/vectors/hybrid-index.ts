import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";
import { confirmed } from "#knowledge/index/confirmed-passages.ts";
import type { Embedder } from "#models/embedding.ts";
import { EmbedderAway, TextRefused } from "#models/embedding.ts";
import type { KnowledgeIndex, SearchRequest, SearchResult } from "#knowledge/index/contract.ts";
import type { Near, VectorCache } from "./cache.ts";

/** Passages that are found by their meaning, beside those that are found by their words. */
const nearMax = 30;
const questionCharactersMax = 2_000;

/**
 * An index that finds passages by their words, and what an embedding server says they mean. Where that server does not
 * answer, the words alone have to do.
 */
export function createHybridIndex({
  words,
  vectors,
  embedder,
  read,
  log,
}: {
  readonly words: KnowledgeIndex;
  readonly vectors: VectorCache;
  readonly embedder: Embedder;
  readonly read: Reader;
  readonly log: Log;
}): KnowledgeIndex {
  const nearOf = new WeakMap<object, Map<string, Promise<readonly Near[]>>>();

  async function near({ text, workspaceId, limit, message, signal }: SearchRequest): Promise<readonly Near[]> {
    const asked = limit === 0 ? "" : (text?.() ?? "").slice(0, questionCharactersMax);
    if (asked.trim() === "") return [];
    if (message === undefined) return nearText(workspaceId, asked, signal);
    const known = nearOf.get(message) ?? new Map<string, Promise<readonly Near[]>>();
    nearOf.set(message, known);
    const key = JSON.stringify([workspaceId, asked]);
    const result = known.get(key) ?? nearText(workspaceId, asked, signal);
    known.set(key, result);
    return result;
  }

  async function nearText(
    workspaceId: string,
    asked: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly Near[]> {
    try {
      const [vector] = await embedder.embed([asked], "question", signal);
      return vector === undefined ? [] : await vectors.nearest(workspaceId, vector, nearMax, signal);
    } catch (error) {
      if (!(error instanceof EmbedderAway || error instanceof TextRefused)) throw error;
      log.debug({ reason: error.message }, "vectors: no vector for a question, searching by words");
      return [];
    }
  }

  return {
    ...words,
    async search(request): Promise<SearchResult> {
      const [result, nearest] = await Promise.all([words.search(request), near(request)]);
      // A passage of a workspace that is gone is not shown; the words' index knows whether it is.
      if (nearest.length === 0 || result.chunkCount === 0) return result;
      const similarityOf = new Map(nearest.map(({ chunkId, similarity }) => [chunkId, similarity]));
      const found = new Set(result.candidates.map(({ chunkId }) => chunkId));
      const more = nearest.filter(({ chunkId }) => !found.has(chunkId)).map(({ chunkId }) => ({ id: chunkId }));
      const candidates = [...result.candidates, ...(await confirmed(read, more, request))].map((candidate) => {
        const similarity = similarityOf.get(candidate.chunkId);
        return similarity === undefined ? candidate : { ...candidate, similarity };
      });
      return { ...result, candidates };
    },
    async close() {
      await vectors.close();
      await words.close();
    },
  };
}

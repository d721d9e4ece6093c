import type { KnowledgeIndex, SearchResult } from "#knowledge/index/contract.ts";

/**
 * Wraps the index for the duration of one message, which is judged as a whole and in its parts. Identical searches run
 * once and share their promise.
 */
export function forOneMessage(index: KnowledgeIndex): KnowledgeIndex {
  const message = {};
  const results = new Map<string, Promise<SearchResult>>();
  return {
    ...index,
    search({ signal, text, ...request }) {
      const queryText = text?.();
      const { workspaceId, terms, misspelt, documentIds, audience, limit } = request;
      const key = JSON.stringify([workspaceId, terms, misspelt, queryText, documentIds, audience, limit]);
      const cached = results.get(key);
      if (cached !== undefined) return cached;
      const result = index.search({
        ...request,
        message,
        ...(queryText === undefined ? {} : { text: () => queryText }),
        ...(signal === undefined ? {} : { signal }),
      });
      results.set(key, result);
      return result;
    },
  };
}

import type { KnowledgeIndex, SearchResult } from "#knowledge/index/contract.ts";

/**
 * The index for the time of one message, which is judged as a whole and in its parts: what is asked twice is searched
 * once, also where the first search is still under way.
 */
export function forOneMessage(index: KnowledgeIndex): KnowledgeIndex {
  const message = {};
  const results = new Map<string, Promise<SearchResult>>();
  return {
    ...index,
    search({ signal, text, ...request }) {
      const asked = text?.();
      const { workspaceId, terms, misspelt, documentIds, audience, limit } = request;
      const key = JSON.stringify([workspaceId, terms, misspelt, asked, documentIds, audience, limit]);
      const known = results.get(key);
      if (known !== undefined) return known;
      const result = index.search({
        ...request,
        message,
        ...(asked === undefined ? {} : { text: () => asked }),
        ...(signal === undefined ? {} : { signal }),
      });
      results.set(key, result);
      return result;
    },
  };
}

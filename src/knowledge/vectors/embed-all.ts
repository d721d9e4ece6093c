import type { Embedder } from "#models/embedding.ts";
import { TextRefused } from "#models/model-away.ts";
import type { Log } from "#runtime/log.ts";
import type { EmbedAll } from "./calibrate.ts";

/** Embeds in the background. A text that the model refuses gets an empty vector, and the texts beside it get theirs. */
export function createEmbedAll(embedder: Embedder, log: Log): EmbedAll {
  const embedAll: EmbedAll = async (texts, signal) => {
    if (texts.length === 0) return [];
    try {
      return await embedder.embed(texts, "background", signal);
    } catch (error) {
      if (!(error instanceof TextRefused)) throw error;
      if (texts.length === 1) {
        log.warn({ reason: error.message }, "vectors: no vector for a text");
        return [new Float32Array()];
      }
      const half = Math.ceil(texts.length / 2);
      return [...(await embedAll(texts.slice(0, half), signal)), ...(await embedAll(texts.slice(half), signal))];
    }
  };
  return embedAll;
}

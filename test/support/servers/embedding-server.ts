import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface EmbeddingServer {
  readonly url: string;
  readonly apiKey: string;
  /** The texts of each request. */
  readonly asked: readonly (readonly string[])[];
  behave(
    as: "well" | "away" | "refusing" | "failing" | "broken" | "too_few" | "not_numbers" | "other_length" | "hang",
  ): void;
  /** Refuses requests with a text that contains this one. */
  refuse(text: string): void;
  close(): Promise<void>;
}

/**
 * A server with OpenAI's `/embeddings`. The vector of a text encodes the concepts that match it. `bend` changes it, as
 * other encoders have other vectors for the same meaning.
 */
export async function startEmbeddingServer(
  concepts: readonly RegExp[],
  bend: (vector: readonly number[], text: string) => readonly number[] = (vector) => vector,
): Promise<EmbeddingServer> {
  const apiKey = "a-key-for-embeddings";
  const asked: (readonly string[])[] = [];
  const refused: string[] = [];
  let behaviour: Parameters<EmbeddingServer["behave"]>[0] = "well";
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      const reply = (status: number, body: unknown): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(typeof body === "string" ? body : JSON.stringify(body));
      };
      if (request.url !== "/v1/embeddings" || request.method !== "POST") return reply(404, { error: "not here" });
      if (request.headers.authorization !== `Bearer ${apiKey}`) return reply(401, { error: "no key" });
      const { model, input, encoding_format: format } = JSON.parse(text) as Record<string, unknown>;
      if (typeof model !== "string" || !Array.isArray(input) || format !== "float")
        return reply(400, { error: "not as described" });
      const texts = input as readonly string[];
      asked.push(texts);
      if (behaviour === "hang") return undefined;
      if (behaviour === "away") return request.socket.destroy();
      if (behaviour === "refusing") return reply(400, { error: "model not loaded" });
      if (behaviour === "failing") return reply(500, { error: "overloaded" });
      if (behaviour === "broken") return reply(200, '{"data": [{"embedding": [0.1,');
      if (refused.some((each) => texts.some((one) => one.includes(each)))) return reply(400, { error: "too long" });
      const data = texts.map((one, index) => ({ object: "embedding", index, embedding: vectorOf(one) }));
      if (behaviour === "too_few") data.pop();
      // Reversed: clients must use the index.
      return reply(200, {
        object: "list",
        model,
        data: data.toReversed(),
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  function vectorOf(text: string): readonly unknown[] {
    // The last component keeps the vector from being zero.
    const vector = bend([...concepts.map((concept) => (concept.test(text) ? 3 : 0)), 1], text);
    if (behaviour === "not_numbers") return vector.map(() => "NaN");
    return behaviour === "other_length" ? [...vector, 1] : vector;
  }

  return {
    url: `http://127.0.0.1:${port}/v1`,
    apiKey,
    asked,
    behave(as) {
      behaviour = as;
    },
    refuse: (text) => void refused.push(text),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
